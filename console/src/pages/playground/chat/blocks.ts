/**
 * The part of Markdown that models write, taken apart line by line: one pass, whatever comes. What
 * is not understood stays as it is, as a paragraph. There is no HTML: it is shown as text.
 */
export type Block =
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly ListItem[] }
  | { readonly kind: "quote"; readonly text: string }
  | { readonly kind: "table"; readonly head: Row; readonly rows: readonly Row[] }
  | { readonly kind: "rule" }
  | { readonly kind: "text"; readonly text: string };

type Row = readonly string[];

export interface ListItem {
  /** `•`, or the number that it was given. */
  readonly marker: string;
  readonly depth: number;
  readonly text: string;
}

const mostDepth = 4;
const fence = /^\s*(?:```|~~~)/;
const heading = /^ {0,3}(#{1,6}) +(.+?) *#* *$/;
const item = /^( *)(?:[-*+]|(\d{1,9}[.)])) +(.*)$/;
const quote = /^ {0,3}> ?(.*)$/;
const rule = /^ {0,3}(?:-{3,}|\*{3,}|_{3,}) *$/;
const tableLine = /^ *\|(.+)\| *$/;
const tableRule = /^ *\|[ :|-]+\| *$/;

export function toBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let at = 0;
  /** Takes lines for as long as they are of one kind. */
  const takeWhile = (isOne: (line: string) => boolean): readonly string[] => {
    const from = at;
    while (at < lines.length && isOne(lines[at] ?? "")) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") at += 1;
    else if (fence.test(line)) {
      at += 1;
      const code = takeWhile((one) => !fence.test(one));
      // One that is still open reaches to the end: the rest of it is on its way.
      at += 1;
      if (code.some((one) => one.trim() !== ""))
        blocks.push({ kind: "code", text: code.join("\n") });
    } else if (rule.test(line)) {
      at += 1;
      blocks.push({ kind: "rule" });
    } else if (heading.test(line)) {
      at += 1;
      const [, marks = "", words = ""] = heading.exec(line) ?? [];
      blocks.push({ kind: "heading", level: marks.length, text: words });
    } else if (quote.test(line)) {
      const quoted = takeWhile((one) => quote.test(one));
      blocks.push({ kind: "quote", text: quoted.map((one) => quote.exec(one)?.[1]).join("\n") });
    } else if (item.test(line)) blocks.push(toList(takeWhile((one) => isListLine(one))));
    else if (tableLine.test(line) && tableRule.test(lines[at + 1] ?? "")) {
      const [head = "", , ...rows] = takeWhile((one) => tableLine.test(one));
      blocks.push({ kind: "table", head: toCells(head), rows: rows.map(toCells) });
    } else {
      // At least this line, whatever it is.
      at += 1;
      const words = [line, ...takeWhile((one) => one.trim() !== "" && !startsBlock(one))];
      blocks.push({ kind: "text", text: words.join("\n") });
    }
  }
  return blocks;
}

const startsBlock = (line: string) =>
  [fence, heading, item, quote, rule, tableLine].some((pattern) => pattern.test(line));

/** An item, or a line that goes on with one. */
const isListLine = (line: string) => (item.test(line) && !rule.test(line)) || /^ {2,}\S/.test(line);

function toList(lines: readonly string[]): Block {
  const items: ListItem[] = [];
  for (const line of lines) {
    const [, indent = "", number, words = ""] = item.exec(line) ?? [];
    const last = items.at(-1);
    if (!item.test(line) && last !== undefined)
      items[items.length - 1] = { ...last, text: `${last.text}\n${line.trim()}` };
    else
      items.push({
        marker: number ?? "•",
        depth: Math.min(Math.floor(indent.length / 2), mostDepth),
        text: words,
      });
  }
  return { kind: "list", items };
}

function toCells(line: string): Row {
  const [, inner = ""] = tableLine.exec(line) ?? [];
  return inner.split("|").map((cell) => cell.trim());
}

export type Span =
  | { readonly kind: "text" | "code" | "bold" | "italic"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly url: string };

/** No part may hold its own mark, so that each opening mark looks no further than the next. */
const spans =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])[*_]([^*_\s](?:[^*_\n]*[^*_\s])?)[*_](?![\w*])|\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)/g;

/** Words with marks in them. A link leads only to http and https. */
export function toSpans(text: string): readonly Span[] {
  const found: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(spans)) {
    if (match.index > at) found.push({ kind: "text", text: text.slice(at, match.index) });
    const [whole, code, bold, italic, label, url] = match;
    if (code !== undefined) found.push({ kind: "code", text: code });
    else if (bold !== undefined) found.push({ kind: "bold", text: bold });
    else if (italic !== undefined) found.push({ kind: "italic", text: italic });
    else if (label !== undefined && url !== undefined)
      found.push({ kind: "link", text: label, url });
    at = match.index + whole.length;
  }
  if (at < text.length) found.push({ kind: "text", text: text.slice(at) });
  return found;
}
