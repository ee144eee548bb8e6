import { type Document, LineCounter, parseDocument, visit } from "yaml";
import { Problem } from "../problem.ts";

export interface ParsedYaml {
  readonly document: Document;
  readonly lineCounter: LineCounter;
  /** What is wrong with it, each with its place and never with the line itself: it may hold a key. */
  readonly problems: readonly string[];
}

/** Every scalar stays the text that was written. */
export function parseYaml(
  text: string,
  /** Whether `<<` merges maps. */
  { merge = false }: { readonly merge?: boolean } = {},
): ParsedYaml {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    schema: "failsafe",
    merge,
    lineCounter,
    prettyErrors: false,
  });
  const problems = document.errors.map(({ message, pos }) => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return `line ${line}, column ${col}: ${message}`;
  });
  return { document, lineCounter, problems };
}

/**
 * The value of a parsed document. An alias without its anchor passes the parser and throws only
 * here, without a line; so does a file that unfolds its aliases without end.
 */
export function yamlValue(document: Document, lineCounter: LineCounter): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    let line = 1;
    visit(document, {
      Alias(_, alias) {
        if (alias.resolve(document) !== undefined) return undefined;
        line = lineCounter.linePos(alias.range?.[0] ?? 0).line;
        return visit.BREAK;
      },
    });
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Problem({ code: "invalid", message: `line ${line}: ${message}`, cause });
  }
}
