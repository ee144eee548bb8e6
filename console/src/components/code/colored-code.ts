export interface ColoredPart {
  readonly text: string;
  readonly kind: "comment" | "string" | "number" | "word" | undefined;
}

/** Good enough for short samples in any of our languages; no grammar of any. */
const pattern =
  /(?<comment>(?<=^|\s)(?:#|\/\/).*$)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(?<number>\b\d+(?:\.\d+)?\b)|(?<word>\b(?:import|from|const|let|for|of|in|await|async|new|return|with|as|def|print|export|curl|if|else|true|false|null|None|True|False)\b)/gm;

export function coloredParts(code: string): readonly ColoredPart[] {
  const parts: ColoredPart[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) parts.push({ text: code.slice(end, match.index), kind: undefined });
    const { comment, string, number } = match.groups ?? {};
    const kind =
      comment !== undefined
        ? "comment"
        : string !== undefined
          ? "string"
          : number !== undefined
            ? "number"
            : "word";
    parts.push({ text: match[0], kind });
    end = match.index + match[0].length;
  }
  if (end < code.length) parts.push({ text: code.slice(end), kind: undefined });
  return parts;
}
