import { normalize } from "../../speech/normalize/normalize.ts";
import { digits } from "../../speech/normalize/number-words.ts";

/** Words alone, for comparing what was written with what was heard: digits spelled, nothing else changed. */
export function toWords(text: string): string[] {
  // A recognizer groups the digits of a phone number as it likes: "21255-50142".
  const ungrouped = text.replace(/(?<![\d.,])\d[\d-]{6,}\d(?![\d.,]\d)/gu, (number) =>
    digits(number),
  );
  return normalize(ungrouped)
    .toLowerCase()
    .replaceAll("'", "")
    .split(/[^a-z]+/u)
    .filter((word) => word !== "");
}

/** The fewest words to change, add or drop to get from one to the other. */
export function wordErrors(expected: readonly string[], heard: readonly string[]): number {
  let previous = heard.map((_, index) => index + 1);
  previous.unshift(0);
  expected.forEach((word, row) => {
    const current = [row + 1];
    heard.forEach((other, column) => {
      const changed = (previous[column] ?? 0) + (word === other ? 0 : 1);
      const dropped = (previous[column + 1] ?? 0) + 1;
      const added = (current[column] ?? 0) + 1;
      current.push(Math.min(changed, dropped, added));
    });
    previous = current;
  });
  return previous.at(-1) ?? 0;
}
