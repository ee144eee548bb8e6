import { type BodyKind, wholeBodies } from "./bodies.ts";
import type { Dice } from "./dice.ts";
import { type FuzzBody, type FuzzJson, RawText } from "./json-text.ts";
import { promptMark } from "./odd-values.ts";
import { sentence } from "./words.ts";

const required: ReadonlySet<string> = new Set(["model", "messages", "input", "voice"]);

/**
 * A whole body as another caller would send it: with some of the optional fields only, in another
 * order, with other words, and with fields of its own. It is served like the whole one.
 */
export function variant(
  dice: Dice,
  kind: BodyKind,
  at = dice.below(wholeBodies[kind].length),
): FuzzBody {
  const fields = Object.entries(wholeBodies[kind][at] ?? {})
    .filter(([name]) => required.has(name) || dice.percent(70))
    .map(
      ([name, value]) =>
        [name, reworded(dice, name === "messages" ? fewer(dice, value) : value)] as const,
    );
  // A choice names one of the tools: without them it is refused.
  const coherent = fields.some(([name]) => name === "tools")
    ? fields
    : fields.filter(([name]) => name !== "tool_choice");
  const extras = dice.some<readonly [string, FuzzJson]>(
    [
      ["user", `user-${dice.below(100_000)}`],
      ["unknown_field", sentence(dice)],
      ["x", dice.below(1_000)],
    ],
    40,
  );
  return Object.fromEntries(dice.shuffled([...coherent, ...extras]));
}

/** Some of a list's entries in any order, at least one. */
function fewer(dice: Dice, value: FuzzJson): FuzzJson {
  if (!Array.isArray(value)) return value;
  const list: readonly FuzzJson[] = value;
  const chosen = dice.some(list, 60);
  return chosen.length > 0 ? chosen : list;
}

function reworded(dice: Dice, value: FuzzJson): FuzzJson {
  if (typeof value === "string")
    return value.includes(promptMark) ? value.replace(promptMark, sentence(dice)) : value;
  if (typeof value !== "object" || value === null || value instanceof RawText) return value;
  if (Array.isArray(value)) return value.map((inner: FuzzJson) => reworded(dice, inner));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, reworded(dice, inner)]),
  );
}
