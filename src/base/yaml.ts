import { type Document, type LineCounter, visit } from "yaml";
import { Problem } from "./problem.ts";

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
    throw new Problem("invalid", `line ${line}: ${message}`, cause);
  }
}
