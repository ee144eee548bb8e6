import { Composer, type CST, type Document, Parser } from "yaml";

/**
 * A document for editing. The parser hands all comments behind a block to that block as soon as one
 * of them is indented like it; here each goes to what it is indented like, so that the comment
 * above a section stays with that section whatever becomes of the one before.
 */
export function parseWithComments(text: string): Document {
  const tokens = [...new Parser().parse(text)];
  for (const token of tokens) if (token.type === "document") settle(token.value);
  const [document] = new Composer({ schema: "failsafe", prettyErrors: false }).compose(
    tokens,
    true,
    text.length,
  );
  if (document === undefined) throw new Error("the parser gave no document");
  return document;
}

type Block = CST.BlockMap | CST.BlockSequence;

const isBlock = (token: CST.Token | null | undefined): token is Block =>
  token?.type === "block-map" || token?.type === "block-seq";

function settle(token: CST.Token | undefined): void {
  if (!isBlock(token)) return;
  const { items, indent } = token;
  for (const [at, item] of items.entries()) {
    settle(item.value);
    const outer = isBlock(item.value) ? behindBlock(item.value) : behindName(item, indent);
    const next = items[at + 1];
    if (next !== undefined) next.start.unshift(...outer);
    else if (outer.length > 0) items.push({ start: outer });
  }
}

function behindBlock({ indent, items }: Block): CST.SourceToken[] {
  const last = items.at(-1);
  if (last === undefined || last.key != null || last.sep !== undefined || last.value !== undefined)
    return [];
  return cut({ tokens: last.start, from: 0, isOwn: (comment) => comment.indent >= indent });
}

/** A name with nothing behind it has only the comments that are indented further. */
function behindName({ sep, value }: Block["items"][number], indent: number): CST.SourceToken[] {
  const lineEnd = sep?.findIndex(({ type }) => type === "newline") ?? -1;
  if (sep === undefined || value !== undefined || lineEnd === -1) return [];
  return cut({ tokens: sep, from: lineEnd + 1, isOwn: (comment) => comment.indent > indent });
}

/** Takes out what stands behind the line of the last own comment. */
function cut(options: {
  readonly tokens: CST.SourceToken[];
  readonly from: number;
  readonly isOwn: (comment: CST.SourceToken) => boolean;
}): CST.SourceToken[] {
  const { tokens, from, isOwn } = options;
  const own = tokens.findLastIndex(
    (token, at) => at >= from && token.type === "comment" && isOwn(token),
  );
  if (own === -1) return tokens.splice(from);
  const lineEnd = tokens.findIndex(({ type }, at) => at > own && type === "newline");
  return lineEnd === -1 ? [] : tokens.splice(lineEnd + 1);
}
