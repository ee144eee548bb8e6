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
import { validBodies } from "./valid-dialects.ts";
import { withWrong } from "./valid-parts.ts";
import { doomedInner, storedInner } from "./valid-responses.ts";
import { sentence } from "./words.ts";

/** A body, and the fields that a refusal may blame; none where it may blame none. */
interface Draft {
  readonly name: string;
  readonly body: string;
  readonly fields?: readonly string[];
  readonly statuses?: readonly number[];
  readonly form?: "json" | "events";
}

/**
 * A request in another dialect than chat. One that is valid by its making must be served, one with a
 * field that is surely wrong must be refused by the name of that field. Of all others nobody knows
 * what is right: they are served, or refused by the name of a field, and never fail.
 */
export function dialectCase(dice: Dice, key: string): FuzzCase {
  if (dice.percent(5)) return storedCase(dice, key);
  const kind = dice.pick(dialectKinds);
  const make = dice.weighted([
    [35, valid],
    [25, wrong],
    [40, odd],
  ]);
  const { name, body, fields, form, statuses = [200, 400, 403, 404] } = make(dice, kind);
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
        statuses,
        ...(fields === undefined ? {} : { fields }),
        ...(form === undefined ? {} : { form }),
      },
    ],
  };
}

function valid(dice: Dice, kind: DialectKind): Draft {
  const body = validBodies[kind].make(dice);
  const form = body["stream"] === true ? "events" : "json";
  return { name: "valid", body: writeJson(body), statuses: [200], form };
}

function wrong(dice: Dice, kind: DialectKind): Draft {
  const { make, wrongs } = validBodies[kind];
  const one = dice.pick(wrongs);
  const [param] = one;
  const body = writeJson(withWrong(make(dice), one));
  return { name: `wrong ${param}`, body, statuses: [400], fields: [param] };
}

/** A stored response is read, listed, or deleted, which works once. */
function storedCase(dice: Dice, key: string): FuzzCase {
  const isDoomed = dice.percent(20);
  const id = `resp_${isDoomed ? doomedInner : storedInner}`;
  const [method, tail, reply] = dice.pick([
    ["GET", "", "stored-response"],
    ["GET", "/input_items", "input-items"],
    ...(isDoomed ? [["DELETE", "", "deleted-response"] as const] : []),
  ] as const);
  // The number tells one request from another.
  const target = `/v1/responses/${id}${tail}?n=${dice.below(1_000_000)}`;
  return {
    group: "stored responses",
    name: `${method} ${tail === "" ? "a response" : tail}`,
    bytes: toRequest({ method, target, headers: [["authorization", `Bearer ${key}`]] }),
    form: "good",
    expects: [{ reply, statuses: isDoomed ? [200, 404] : [200] }],
  };
}

function odd(dice: Dice, kind: DialectKind): Draft {
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
