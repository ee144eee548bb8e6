/** Numbers with a letter behind them that name a thing: houses, rooms, seats. */
import { labelNumber } from "./number-words.ts";
import { type Groups, type Rule, rule } from "./rules.ts";

const places =
  "[Rr]oom|[Gg]ate|[Ss]eat|[Ff]lat|[Ss]uite|[Uu]nit|[Aa]partment|[Hh]ouse|[Bb]lock|[Ee]xit|[Pp]latform|[Bb]us|[Ss]tudio|[Bb]uilding|[Cc]abin|[Bb]ay|[Dd]ock|Form";
const streets = "Street|Road|Avenue|Lane|Drive|Boulevard|Square|Place|Court|Terrace|Way|Highway";
const label = "(?<n>\\d+)(?<letter>[A-Za-d])\\b";

/** Before the quantities: "Room 12V" has no volts, "Form 10K" no thousands. */
export const placeRules: readonly Rule[] = [
  rule(new RegExp(`(?<=\\b(?:${places})\\s)${label}`, "gu"), sayLabel),
  rule(
    new RegExp(`(?<![\\w.,:$€£])${label}(?=\\s(?:[A-Z][\\w'-]*\\s){1,3}(?:${streets})\\b)`, "gu"),
    sayLabel,
  ),
];

/** After the quantities: what is left is no unit and no magnitude. */
export const labelRules: readonly Rule[] = [
  rule(/(?<![\w.,:])(?<n>\d+)(?<letter>[A-Z])\b/gu, sayLabel),
];

function sayLabel({ n = "", letter = "" }: Groups): string {
  return `${labelNumber(n)} ·${letter.toUpperCase()}`;
}
