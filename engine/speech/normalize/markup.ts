/** From text as people send it, Markdown and HTML included, to paragraphs of running text. */

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  mdash: "—",
  ndash: "–",
  hellip: "…",
};

/** Lines that are read as a sentence of their own even without a full stop. */
const ownLine = /^ *(?:#{1,6}\s+|[-*+•‣◦–]\s+|\d{1,3}[.)]\s+|>\s?)/u;
/** A line this short that the next one does not continue is a verse or an address, not a wrapped line. */
const shortLine = 60;

export function toParagraphs(text: string): string[] {
  return clean(text)
    .replace(/[ ]+$/gmu, "")
    .split(/\n{2,}/u)
    .map(joinLines)
    .filter((paragraph) => /[\p{L}\p{N}]/u.test(paragraph));
}

function clean(text: string): string {
  return (
    text
      .normalize("NFC")
      .replace(/\r\n?|[\u2028\u2029\v\f]/gu, "\n")
      // Invisible characters: control, zero-width, direction, soft hyphen.
      .replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "")
      .replace(/[\t\u00a0\u2000-\u200a\u202f\u205f\u3000]/gu, " ")
      .replace(/^[ ]*```[^\n]*$/gmu, "")
      .replace(/<!--[\s\S]*?-->/gu, "")
      .replace(/<(?:br|\/p|\/div|\/li|\/h[1-6])\s*\/?>/giu, "\n")
      .replace(
        /<\/?[a-z][a-z0-9-]*(?:\s+[a-z-]+(?:=(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*\s*\/?>/giu,
        "",
      )
      .replace(
        /&(?<name>[a-z]+);/giu,
        (whole, name: string) => entities[name.toLowerCase()] ?? whole,
      )
      .replace(/&#(?<code>\d{1,7});/gu, (whole, code: string) => fromCode(Number(code), whole))
      // Tables: the rule under the head goes, bars between cells become pauses.
      .replace(/^ *\|?(?: *:?-{2,}:? *\|)+[ :-]*$\n?/gmu, "")
      .replace(/^ *\|(?<cells>.*)\| *$/gmu, (_, cells: string) => `${cells.split("|").join(", ")}.`)
      .replace(/^ *(?:[-*_=] *){3,}$/gmu, "")
      .replace(/!?\[(?<label>[^\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/gu, "$<label>")
      .replace(/\[\^?\d+\]/gu, "")
      .replace(/`+/gu, "")
      .replace(
        /(?<![\w*])(?<mark>\*{1,3}|_{1,3}|~~)(?=\S)(?<inner>[^*_~\n]*\S)\k<mark>(?![\w*])/gu,
        "$<inner>",
      )
  );
}

function fromCode(code: number, whole: string): string {
  return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

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
