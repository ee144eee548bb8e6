import { isRefused } from "../oracle.ts";
import { type BodyKind, bodyKinds, kinds, validBody } from "./body-kinds.ts";
import { bounds, valueAround } from "./bounds.ts";
import type { Dice } from "./dice.ts";
import { type Expectation, type FuzzCase, toRequest } from "./fuzz-case.ts";
import {
  changed,
  type FuzzBody,
  type FuzzJson,
  type Place,
  parsed,
  placesIn,
  RawText,
  toName,
  valueAt,
  writeJson,
} from "./json-text.ts";
import { brokenNumbers, nested, oddNumber, oddText, promptMark, wrongValue } from "./odd-values.ts";
import { storedInner } from "./valid-responses.ts";
import { sentence } from "./words.ts";

/** A body and what may become of it. */
interface Draft {
  readonly name: string;
  readonly kind: BodyKind;
  readonly body: Buffer | string;
  readonly statuses: readonly number[];
  /** Those that a refusal may blame. */
  readonly fields?: readonly string[];
  readonly form?: "json" | "events";
}

const served = [200];
const refused = [400];
const either = [200, 400];
/** Where the model or a stored response may be another one, which does not exist. */
const anything = [200, 400, 403, 404];

export type BodyGroup = keyof typeof drafts;

export function bodyCase(dice: Dice, key: string, group: BodyGroup): FuzzCase {
  const { name, kind, body, statuses, fields, form } = drafts[group](dice);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  // The target puts ids into the bytes as they stand.
  const isChunked = dice.percent(25) && !bytes.includes(storedInner);
  const sizes = dice.list(3, () => dice.magnitude(1, 5_000));
  // A large body in tiny chunks says no more than a small one, and costs seconds.
  const chunks = bytes.length > 50_000 ? sizes.map((size) => size + 5_000) : sizes;
  const isAnthropic = kind === "messages" || kind === "count-tokens";
  const request = toRequest({
    target: kinds[kind].path,
    headers: [
      isAnthropic && dice.percent(50) ? ["x-api-key", key] : ["authorization", `Bearer ${key}`],
      ...(isAnthropic ? [["anthropic-version", "2023-06-01"] as const] : []),
      ["content-type", "application/json"],
    ],
    body: bytes,
    ...(isChunked ? { chunks } : {}),
  });
  const expectation: Expectation = {
    reply: kind,
    statuses,
    ...(fields === undefined ? {} : { fields }),
    ...(form === undefined ? {} : { form }),
  };
  return {
    group,
    name: `${kind}: ${name}${isChunked ? ", chunked" : ""}`,
    bytes: request,
    form: "good",
    expects: [expectation],
    ...(dice.percent(3) ? { cutAt: dice.below(request.length) } : {}),
  };
}

type Draw = (dice: Dice, whole: FuzzBody, kind: BodyKind) => Wrong;

interface Wrong {
  readonly place: Place;
  /** Undefined takes out what is there. */
  readonly value: FuzzJson | undefined;
}

const ofType = (whole: FuzzBody, type: "number" | "string") =>
  placesIn(whole).filter((place) => typeof valueAt(whole, place) === type);

/** Mostly where a number is expected: elsewhere it is a wrong type like others. */
const drawNumber: Draw = (dice, whole) => {
  const expected = ofType(whole, "number");
  const places = expected.length > 0 && dice.percent(70) ? expected : placesIn(whole);
  const text = dice.percent(20) ? dice.pick(brokenNumbers) : oddNumber(dice);
  return { place: dice.pick(places), value: new RawText(text) };
};
const drawText: Draw = (dice, whole) => ({
  place: dice.pick(ofType(whole, "string")),
  value: oddText(dice),
});
/** Every place of the body and every field of the contract, with every wrong type, or gone. */
const drawType: Draw = (dice, whole, kind) => ({
  place: dice.percent(20)
    ? [dice.pick(Object.keys(kinds[kind].schema.properties))]
    : dice.pick(placesIn(whole)),
  value: dice.percent(10) ? undefined : wrongValue(dice),
});
const drawBound: Draw = (dice, _whole, kind) => {
  const field = dice.pick(Object.keys(bounds[kind]));
  return { place: [field], value: valueAround(dice, kind, field) };
};

const drafts = {
  valid: (dice: Dice): Draft => {
    const kind = dice.pick(bodyKinds);
    const body = validBody(dice, kind);
    const form = body["stream"] === true ? "events" : "json";
    return { name: "valid", kind, body: writeJson(body), statuses: served, form };
  },
  "broken JSON": brokenJson,
  nesting,
  numbers: (dice: Dice) => spoilt(dice, drawNumber),
  unicode: (dice: Dice) => spoilt(dice, drawText),
  keys,
  types: (dice: Dice) => spoilt(dice, drawType),
  boundaries: (dice: Dice) => spoilt(dice, drawBound),
  noise,
  large,
} as const;

/** Text that is no JSON object any more, in one of the ways in which real senders break it. */
function brokenJson(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  const text = writeJson(validBody(dice, kind));
  const bytes = Buffer.from(text);
  const at = dice.below(bytes.length);
  const inserted = (piece: Buffer | string) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(piece), bytes.subarray(at)]);
  const broken = {
    "truncated at a byte": () => bytes.subarray(0, at),
    "trailing comma": () => `${text.slice(0, -1)},}`,
    "something behind it": () => `${text}${dice.pick(["}", "x", "{}"])}`,
    "single quotes": () => text.replaceAll('"', "'"),
    "a comment": () => `/* ${promptMark} */${text}`,
    "UTF-16": () => Buffer.from(text, "utf16le"),
    "NUL in front": () => `\u0000${text}`,
    "not an object": () => notAnObject(dice, text),
    "two marks in front": () => `\ufeff\ufeff${text}`,
    "NUL inside": () => inserted("\u0000"),
  };
  const doubtful = {
    "a byte order mark": () => `\ufeff${text}`,
    "bad UTF-8": () => inserted(dice.pick(badUtf8)),
  };
  const [name, make] = dice.pick(Object.entries({ ...broken, ...doubtful }));
  const statuses = name in broken ? refused : anything;
  return { name: `${name} (${at})`, kind, body: make(), statuses };
}

function notAnObject(dice: Dice, text: string): string {
  return dice.pick([
    dice.pick(["", "null", "true", "[]", '""', "{", "}"]),
    dice.pick([" ", "\n", "\t", "\r\n"]).repeat(dice.between(1, 3_000)),
    oddNumber(dice),
    JSON.stringify(sentence(dice)),
    JSON.stringify(text),
    `[${text}]`,
  ]);
}

/** A lone start, a lone continuation, a surrogate, an overlong slash, beyond the last code point. */
const badUtf8: readonly Buffer[] = ["c3", "80", "eda080", "c0af", "f4908080", "ff", "fe"].map(
  (digits) => Buffer.from(digits, "hex"),
);

function nesting(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  const depth = dice.magnitude(10, 100_000);
  const deep = nested(dice, depth);
  if (dice.percent(10))
    return { name: `${depth} levels`, kind, body: deep.text, statuses: refused };
  const whole = validBody(dice, kind);
  const place = dice.percent(20) ? ["unknown"] : dice.pick(placesIn(whole));
  const body = writeJson(changed(whole, place, deep));
  return { name: `${depth} levels at ${toName(place)}`, kind, body, statuses: anything };
}

/** Members twice, and members whose names mean something to the language. */
function keys(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  const whole = validBody(dice, kind);
  const odd = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "toJSON"];
  const others = ["then", "length", "", "\u0000", "\ud800", "a".repeat(10_000)];
  const name = dice.pick([...Object.keys(whole), ...odd, ...others]);
  const member = `${JSON.stringify(name)}:${writeJson(wrongValue(dice))}`;
  const isFirst = dice.percent(50);
  const plain = writeJson(whole);
  const body = isFirst ? `{${member},${plain.slice(1)}` : writeJson(whole, member);
  const label = `${isFirst ? "first" : "last"} member ${JSON.stringify(name.slice(0, 20))}`;
  return judged({ name: label, kind, body, wrong: [name] });
}

/** A body with something wrong in one place, or in two at once. */
function spoilt(dice: Dice, draw: Draw): Draft {
  const kind = dice.pick(bodyKinds);
  const whole = validBody(dice, kind);
  const wrongs = dice.list(dice.percent(30) ? 2 : 1, () => draw(dice, whole, kind));
  const body = wrongs.reduce<FuzzJson>(
    (now, { place, value }) => changed(now, place, value),
    whole,
  );
  const shown = (value: FuzzJson | undefined) =>
    value === undefined ? "gone" : writeJson(value).slice(0, 40);
  const name = wrongs.map(({ place, value }) => `${toName(place)} is ${shown(value)}`).join(", ");
  const wrong = wrongs.map(({ place }) => String(place[0]));
  return judged({ name, kind, body: writeJson(body), wrong });
}

/** Bytes that flip, vanish or double anywhere. */
function noise(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  let bytes = Buffer.from(writeJson(validBody(dice, kind)));
  const count = dice.between(1, 4);
  for (let turn = 0; turn < count; turn++) {
    const at = dice.below(bytes.length);
    const random = Buffer.from([dice.below(256)]);
    const behind = bytes.subarray(at + 1);
    bytes = dice.pick([
      Buffer.concat([bytes.subarray(0, at), random, behind]),
      Buffer.concat([bytes.subarray(0, at), behind]),
      Buffer.concat([bytes.subarray(0, at), random, bytes.subarray(at)]),
      Buffer.concat([bytes.subarray(0, at), bytes.subarray(dice.below(bytes.length))]),
    ]);
    if (bytes.length === 0) break;
  }
  return { name: `${count} random changes`, kind, body: bytes, statuses: anything };
}

/** Nearly as large as a body may be, or too complex to be read, in shapes that cost a parser more than text does. */
function large(dice: Dice): Draft {
  const sizeBytes = dice.magnitude(300_000, 30_000_000);
  const filled = (piece: string) => piece.repeat(Math.floor(sizeBytes / piece.length));
  const message = '{"role":"user","content":"x"}';
  const chat = (field: string) => `{"model":"svc-3-flash","messages":[${message}],"x":${field}}`;
  const image = "data:image/png;base64,";
  const messages = () => `{"model":"svc-3-flash","messages":[${filled(`${message},`)}${message}]}`;
  const [what, kind, body, statuses] = dice.pick<
    readonly [string, BodyKind, () => string, readonly number[]]
  >([
    ["brackets", "chat", () => filled("["), refused],
    ["lists", "chat", () => chat(`[${filled("[],")}1]`), either],
    ["numbers", "chat", () => chat(`[${filled("1e9,")}1]`), either],
    ["messages", "chat", messages, either],
    [
      "text",
      "text-embeddings",
      () => `{"model":"svc-embedding-2","input":"${filled("\\u0041")}"}`,
      either,
    ],
    [
      "what claims to be an image",
      "media-embeddings",
      () => `{"model":"multimodal-embedding-1","input":"${image}${filled("A")}"}`,
      refused,
    ],
    ["spaces", "speech", () => filled(" "), refused],
  ]);
  return { name: `${sizeBytes} bytes of ${what}`, kind, body: body(), statuses };
}

/** These are checked field by field: what is refused beside the schema is the field's own fault. */
const strict: ReadonlySet<BodyKind> = new Set([
  "chat",
  "text-embeddings",
  "media-embeddings",
  "speech",
]);

/** By the contract's schema: what it refuses must be refused, and a field in question be blamed. */
function judged(draft: {
  readonly name: string;
  readonly kind: BodyKind;
  readonly body: string;
  /** The fields that may be wrong. */
  readonly wrong: readonly string[];
}): Draft {
  const { name, kind, body, wrong } = draft;
  if (wrong.includes("model") || wrong.includes("previous_response_id"))
    return { name, kind, body, statuses: anything };
  const value = parsed(body);
  const mustFail = isRefused(kind, value);
  // What a schema cannot say of the others, it says of speech: there, valid is served.
  const unrefused = kind === "speech" ? served : strict.has(kind) ? either : anything;
  const statuses = mustFail ? refused : unrefused;
  if (value === undefined) return { name, kind, body, statuses };
  // Another tool may be one that the choice does not name: then the choice is blamed.
  const blamed = wrong.includes("tools") ? [...wrong, "tool_choice"] : wrong;
  const fields = mustFail || strict.has(kind) ? blamed : Object.keys(value as object);
  return { name, kind, body, statuses, fields };
}
