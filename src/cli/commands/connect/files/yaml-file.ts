import { type Document, parseDocument, stringify } from "yaml";
import { Problem } from "../../../../base/problem.ts";
import type { Assignment } from "./assignments.ts";

export const parseYaml = (text: string): unknown => valueOf(open(text));

export const renderYaml = (value: unknown): string => stringify(value, { lineWidth: 0 });

/** Comments and order stay; the library may change spaces. */
export function assignYaml(text: string, assignments: readonly Assignment[]): string {
  const document = open(text);
  // A file that is empty has no map or list to set anything in.
  for (const { path, value } of assignments)
    if (path.length === 0) document.contents = document.createNode(value);
    else if (document.getIn(path.slice(0, -1)) === null)
      document.setIn(path.slice(0, -1), document.createNode({ [String(path.at(-1))]: value }));
    else document.setIn(path, document.createNode(value));
  const hasOuterDashes = /:[ \t]*\n- /.test(text);
  return document.toString({ lineWidth: 0, indentSeq: !hasOuterDashes });
}

function open(text: string): Document {
  const document = parseDocument(text, { prettyErrors: false });
  const [error] = document.errors;
  if (error === undefined) return document;
  const line = text.slice(0, error.pos[0]).split("\n").length;
  throw new Problem({ code: "invalid", message: `line ${line}: ${error.message}` });
}

function valueOf(document: Document): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Problem({ code: "invalid", message, cause });
  }
}
