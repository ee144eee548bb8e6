import { type DialectKind, dialectBodies, dialectKinds, dialectPaths } from "./dialect-bodies.ts";
import type { Dice } from "./dice.ts";
import { type FuzzCase, toRequest } from "./fuzz-case.ts";
import {
  changed,
  type FuzzBody,
  type FuzzJson,
  placesIn,
  RawText,
  toName,
  writeJson,
} from "./json-text.ts";
import { nested, oddText, promptMark, wrongValue } from "./odd-values.ts";
import { sentence } from "./words.ts";

/** A body, and the fields that a refusal may blame; none where it may blame none. */
interface Draft {
  readonly name: string;
  readonly body: string;
  readonly fields?: readonly string[];
}

/**
 * A request in another dialect than chat, with something wrong in it. There is no oracle of what is
 * right: it is served, or refused by the name of a field, and never fails.
 */
export function dialectCase(dice: Dice, key: string): FuzzCase {
  const kind = dice.pick(dialectKinds);
  const { name, body, fields } = draft(dice, kind);
  const isAnthropic = kind === "messages" || kind === "count-tokens";
  const bytes = toRequest({
    target: dialectPaths[kind],
    headers: [
      isAnthropic && dice.percent(50) ? ["x-api-key", key] : ["authorization", `Bearer ${key}`],
      ...(isAnthropic ? [["anthropic-version", "2023-06-01"] as const] : []),
      ["content-type", "application/json"],
    ],
    body: Buffer.from(body),
  });
  return {
    group: kind,
    name: `${kind}: ${name}`,
    bytes,
    form: "good",
    expects: [
      {
        reply: kind,
        statuses: [200, 400, 403, 404],
        ...(fields === undefined ? {} : { fields }),
      },
    ],
  };
}

function draft(dice: Dice, kind: DialectKind): Draft {
  const worded = Object.entries(dice.pick(dialectBodies[kind])).map(
    ([name, value]) => [name, reworded(dice, value)] as const,
  );
  const whole: FuzzBody = Object.fromEntries(dice.shuffled(worded));
  const fields = Object.keys(whole);
  const text = writeJson(whole);
  switch (dice.below(6)) {
    case 0: {
      const cut = dice.below(text.length);
      return { name: `cut at ${cut}`, body: text.slice(0, cut) };
    }
    case 1: {
      const place = dice.pick(placesIn(whole));
      const depth = dice.magnitude(10, 20_000);
      const body = writeJson(changed(whole, place, nested(dice, depth)));
      return { name: `${depth} levels at ${toName(place)}`, body };
    }
    case 2: {
      const name = dice.pick([...fields, "__proto__", "constructor", "", "toJSON", "n", "input"]);
      const member = `${JSON.stringify(name)}:${writeJson(wrongValue(dice))}`;
      return { name: `one more ${name}`, body: writeJson(whole, member) };
    }
    default:
      return spoilt(dice, whole);
  }
}

/** Something wrong in one place, or in two at once. */
function spoilt(dice: Dice, whole: FuzzBody): Draft {
  const wrongs = dice.list(dice.percent(30) ? 2 : 1, () => ({
    place: dice.pick(placesIn(whole)),
    value: dice.percent(10) ? undefined : dice.percent(30) ? oddText(dice) : wrongValue(dice),
  }));
  const body = wrongs.reduce<FuzzJson>(
    (now, { place, value }) => changed(now, place, value),
    whole,
  );
  const name = wrongs.map(({ place }) => toName(place)).join(", ");
  const text = writeJson(body);
  return isJson(text)
    ? { name: `wrong ${name}`, body: text, fields: Object.keys(whole) }
    : { name: `broken ${name}`, body: text };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The same with other words. */
function reworded(dice: Dice, value: FuzzJson): FuzzJson {
  if (typeof value === "string")
    return value.replace(promptMark, `${promptMark} ${sentence(dice)}`);
  if (typeof value !== "object" || value === null || value instanceof RawText) return value;
  if (Array.isArray(value)) return value.map((inner: FuzzJson) => reworded(dice, inner));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, reworded(dice, inner)]),
  );
}
