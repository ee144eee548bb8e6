/** From text as people send it, Markdown and HTML included, to paragraphs of running text. */

import { applyRules, type Rule, tableOf } from "./rules.ts";

const entities = tableOf(
  `amp=&|lt=<|gt=>|quot="|apos='|nbsp= |mdash=—|ndash=–|hellip=…|copy=©|deg=°|euro=€|pound=£`,
);

/** Lines that are read as a sentence of their own even without a full stop. */
const ownLine = /^ *(?:#{1,6}\s+|[-*+•‣◦–]\s+|\d{1,3}[.)]\s+|>\s?)/u;
/** A line this short that the next one does not continue is a verse or an address, not a wrapped line. */
const shortLine = 60;

export function toParagraphs(text: string): string[] {
  return applyRules(text.normalize("NFC"), markupRules)
    .replace(/(?<! ) +$/gmu, "")
    .split(/\n{2,}/u)
    .map(joinLines)
    .filter((paragraph) => /[\p{L}\p{N}]/u.test(paragraph));
}

const link = /!?\[(?<label>[^[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/gu;

const markupRules: readonly Rule[] = [
  [/\r\n?|[\u2028\u2029\v\f]/gu, "\n"],
  // Invisible characters: control, zero-width, direction, soft hyphen.
  [/(?![\n\t])[\p{Cc}\p{Cf}]/gu, ""],
  [/[\t\u00a0\u2000-\u200a\u202f\u205f\u3000]/gu, " "],
  [/^[ ]*```[^\n]*$/gmu, ""],
  [/<!--[\s\S]*?-->/gu, ""],
  [/<(?:br|\/p|\/div|\/li|\/h[1-6])\s*\/?>/giu, "\n"],
  [/<\/?[a-z][a-z0-9-]*(?:\s+[a-z-]+(?:=(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*\s*\/?>/giu, ""],
  [/&(?<name>[a-z]+);/giu, ({ name = "" }) => entities.get(name.toLowerCase())],
  [
    /&#(?<code>\d{2,7});/gu,
    ({ code }) =>
      Number(code) > 31 && Number(code) <= 0x10ffff
        ? String.fromCodePoint(Number(code))
        : undefined,
  ],
  // Tables: the rule under the head goes, bars between cells become pauses.
  [/^(?: *\|)?(?: *:?-{2,}:? *\|)+[ :-]*$\n?/gmu, ""],
  [/^ *\|(?<cells>.*)\| *$/gmu, ({ cells = "" }) => `${cells.split("|").join(", ")}.`],
  [/^ *(?:[-*_=] *){3,}$/gmu, ""],
  // Twice: a badge is an image within a link.
  [link, "$<label>"],
  [link, "$<label>"],
  [/\[\^?\d+\]/gu, ""],
  [/`+/gu, ""],
  [
    /(?<![\w*])(?<mark>\*{1,3}|_{1,3}|~~)(?=\S)(?<inner>[^*_~\n]*\S)\k<mark>(?![\w*])/gu,
    "$<inner>",
  ],
];

function joinLines(block: string): string {
  const lines = block.split("\n").filter((line) => line.trim() !== "");
  const parts = lines.map((line, index) => {
    const next = lines[index + 1];
    const own = ownLine.test(line);
    const numbered = /^ *(?<n>\d{1,3})[.)]\s+/u.exec(line);
    const plain = line
      .replace(/^[ >]*/u, "")
      .replace(ownLine, "")
      .trim();
    const said = numbered === null ? plain : `${numbered[1] ?? ""}, ${plain}`;
    if (/[.!?…:;,—]["”')\]]*$/u.test(said)) return said;
    if (own || (next !== undefined && ownLine.test(next))) return `${said}.`;
    const verse = next !== undefined && line.length < shortLine && /^\s*[A-Z]/u.test(next);
    return verse ? `${said},` : said;
  });
  return parts.join(" ").replace(/\s+/gu, " ").trim();
}
