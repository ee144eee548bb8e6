import { isRefused } from "../oracle.ts";
import { type BodyKind, bodyKinds, pathOf, validBody, wholeBodies } from "./bodies.ts";
import type { Dice } from "./dice.ts";
import { type Expectation, type FuzzCase, toRequest } from "./fuzz-case.ts";
import {
  changed,
  type FuzzBody,
  type FuzzJson,
  type Place,
  placesIn,
  RawText,
  toName,
  writeJson,
} from "./json-text.ts";
import { limits, valueOf } from "./limits.ts";
import {
  brokenNumbers,
  keyMark,
  nested,
  oddNumber,
  oddText,
  promptMark,
  wrongValue,
} from "./odd-values.ts";
import { variant } from "./variant.ts";
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
/** Chat says 403 for a model that it does not know, the others 400. */
const eitherModel = [200, 400, 403];

export type BodyGroup = keyof typeof drafts;

export function bodyCase(dice: Dice, key: string, group: BodyGroup): FuzzCase {
  const { name, kind, body, statuses, fields, form } = drafts[group](dice);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const isChunked = dice.percent(25);
  const sizes = dice.list(3, () => dice.magnitude(1, 5_000));
  // A large body in tiny chunks says no more than a small one, and costs seconds.
  const chunks = bytes.length > 50_000 ? sizes.map((size) => size + 5_000) : sizes;
  const request = toRequest({
    target: pathOf[kind],
    headers: [
      ["authorization", `Bearer ${key}`],
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

const drafts = {
  valid: (dice: Dice): Draft => {
    const kind = dice.pick(bodyKinds);
    const body = validBody(dice, kind);
    const form = body["stream"] === true ? "events" : "json";
    return { name: "valid", kind, body: writeJson(body), statuses: served, form };
  },
  "broken JSON": brokenJson,
  nesting,
  numbers,
  unicode,
  keys,
  types,
  boundaries,
  noise,
  large,
} as const;

/** Text that is no JSON object any more, in one of the ways in which real senders break it. */
function brokenJson(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  const text = writeJson(dice.percent(50) ? variant(dice, kind) : validBody(dice, kind));
  const bytes = Buffer.from(text);
  const at = dice.below(bytes.length);
  const inserted = (piece: Buffer | string) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(piece), bytes.subarray(at)]);
  const whole = { kind, statuses: refused };
  return dice.pick<() => Draft>([
    () => ({ ...whole, name: `truncated at byte ${at}`, body: bytes.subarray(0, at) }),
    () => ({ ...whole, name: `truncated at byte ${at}`, body: bytes.subarray(0, at) }),
    () => ({ ...whole, name: "trailing comma", body: `${text.slice(0, -1)},}` }),
    () => ({
      ...whole,
      name: "something behind it",
      body: `${text}${dice.pick(["}", "x", "{}"])}`,
    }),
    () => ({ ...whole, name: "single quotes", body: text.replaceAll('"', "'") }),
    () => ({ ...whole, name: "a comment", body: `/* ${promptMark} */${text}` }),
    () => ({ ...whole, name: "UTF-16", body: Buffer.from(text, "utf16le") }),
    () => ({ ...whole, name: "NUL in front", body: `\u0000${text}` }),
    () => ({
      ...whole,
      name: "not an object",
      body: notAnObject(dice, text),
    }),
    () => ({ ...whole, name: "two marks in front", body: `\ufeff\ufeff${text}` }),
    () => ({ ...whole, name: `NUL at byte ${at}`, body: inserted("\u0000") }),
    () => ({ kind, name: "a byte order mark", body: `\ufeff${text}`, statuses: either }),
    () => ({
      kind,
      name: `bad UTF-8 at byte ${at}`,
      body: inserted(dice.pick(badUtf8)),
      statuses: eitherModel,
    }),
  ])();
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
  const kind = dice.percent(50) ? "chat" : dice.pick(bodyKinds);
  const depth = dice.magnitude(10, 100_000);
  const deep = nested(dice, depth);
  if (dice.percent(10))
    return { name: `${depth} levels`, kind, body: deep.text, statuses: refused };
  const whole = dice.pick(wholeBodies[kind]);
  const place = dice.percent(20) ? ["unknown_field"] : dice.pick(placesIn(whole));
  const body =
    place[0] === "unknown_field" ? { ...whole, unknown_field: deep } : changed(whole, place, deep);
  return {
    name: `${depth} levels at ${toName(place)}`,
    kind,
    body: writeJson(body),
    statuses: eitherModel,
  };
}

function numbers(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  return spoilt({
    dice,
    kind,
    draw: (whole) => {
      const places = placesIn(whole);
      const expected = places.filter((place) => typeof valueAt(whole, place) === "number");
      // Mostly where a number is expected: elsewhere it is a wrong type like others.
      const place = dice.pick(expected.length > 0 && dice.percent(70) ? expected : places);
      const text = dice.percent(20) ? dice.pick(brokenNumbers) : oddNumber(dice);
      return { place, value: new RawText(text) };
    },
  });
}

function unicode(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  return spoilt({
    dice,
    kind,
    draw: (whole) => {
      const texts = placesIn(whole).filter((place) => typeof valueAt(whole, place) === "string");
      return { place: dice.pick(texts), value: oddText(dice) };
    },
  });
}

/** Members twice, and members whose names mean something to the language. */
function keys(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  const whole = variant(dice, kind);
  const name = dice.pick([
    ...Object.keys(whole),
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "toJSON",
    "then",
    "length",
    "",
    "\u0000",
    "\ud800",
    "a".repeat(10_000),
  ]);
  const value = writeJson(wrongValue(dice));
  const member = `${JSON.stringify(name)}:${value}`;
  const isFirst = dice.percent(50);
  const plain = writeJson(whole);
  const body = isFirst ? `{${member},${plain.slice(1)}` : writeJson(whole, member);
  const label = `${isFirst ? "first" : "last"} member ${JSON.stringify(name.slice(0, 20))}`;
  return judged({ name: label, kind, body, fields: [name] });
}

/** Every place in turn with every wrong type, or gone. */
function types(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  return spoilt({
    dice,
    kind,
    draw: (whole) => ({
      place: dice.pick(placesIn(whole)),
      value: dice.percent(10) ? undefined : wrongValue(dice),
    }),
  });
}

interface Wrong {
  readonly place: Place;
  /** Undefined takes out what is there. */
  readonly value: FuzzJson | undefined;
}

/** A body with something wrong in one place, or in two at once. */
function spoilt(options: {
  readonly dice: Dice;
  readonly kind: BodyKind;
  readonly draw: (whole: FuzzBody) => Wrong;
}): Draft {
  const { dice, kind, draw } = options;
  const whole = variant(dice, kind);
  const wrongs = dice.list(dice.percent(30) ? 2 : 1, () => draw(whole));
  const body = wrongs.reduce<FuzzJson>(
    (now, { place, value }) => changed(now, place, value),
    whole,
  );
  const shown = (value: FuzzJson | undefined) =>
    value === undefined ? "gone" : writeJson(value).slice(0, 40);
  const name = wrongs.map(({ place, value }) => `${toName(place)} is ${shown(value)}`).join(", ");
  const fields = wrongs.map(({ place }) => String(place[0]));
  return judged({ name, kind, body: writeJson(body), fields });
}

/** A limit, or two at once: when one is passed, it is refused and that one is blamed. */
function boundaries(dice: Dice): Draft {
  const first = dice.pick(limits);
  const others = limits.filter(({ kind, field }) => kind === first.kind && field !== first.field);
  const chosen = dice.percent(40) && others.length > 0 ? [first, dice.pick(others)] : [first];
  const drawn = chosen.map((limit) => {
    const isInside = limit.inside.length > 0 && dice.percent(50);
    return { field: limit.field, isInside, value: valueOf(dice, limit, isInside) };
  });
  const passed = drawn.filter(({ isInside }) => !isInside).map(({ field }) => field);
  const values = drawn.map(({ field, value }) => [field, new RawText(value)] as const);
  return {
    name: drawn.map(({ field, value }) => `${field} is ${value.slice(0, 30)}`).join(", "),
    kind: first.kind,
    body: writeJson({ ...variant(dice, first.kind, 0), ...Object.fromEntries(values) }),
    statuses: passed.length === 0 ? served : refused,
    ...(passed.length === 0 ? {} : { fields: passed }),
  };
}

/** Bytes that flip, vanish or double anywhere. */
function noise(dice: Dice): Draft {
  const kind = dice.pick(bodyKinds);
  let bytes = Buffer.from(writeJson(dice.pick(wholeBodies[kind])));
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
  return { name: `${count} random changes`, kind, body: bytes, statuses: eitherModel };
}

/** Nearly as large as a body may be, in shapes that cost a parser more than text does. */
function large(dice: Dice): Draft {
  const sizeBytes = dice.magnitude(300_000, 30_000_000);
  const filled = (piece: string) => piece.repeat(Math.floor(sizeBytes / piece.length));
  const message = '{"role":"user","content":"x"}';
  const chat = (field: string) => `{"model":"svc-3-flash","messages":[${message}],"x":${field}}`;
  const name = `${sizeBytes} bytes`;
  // A body may have about a million values: entries count one, fields four, brackets one.
  const bounded = (valuesEach: number, piece: string) => {
    const values = (sizeBytes / piece.length) * valuesEach;
    return values < 990_000 ? served : values > 1_010_000 ? refused : either;
  };
  return dice.pick<() => Draft>([
    () => ({ name: `${name} of brackets`, kind: "chat", body: filled("["), statuses: refused }),
    () => ({
      name: `${name} of lists`,
      kind: "chat",
      body: chat(`[${filled("[],")}1]`),
      statuses: bounded(2, "[],"),
    }),
    () => ({
      name: `${name} of numbers`,
      kind: "chat",
      body: chat(`[${filled("1e9,")}1]`),
      statuses: bounded(1, "1e9,"),
    }),
    () => ({
      name: `${name} of messages`,
      kind: "chat",
      body: `{"model":"svc-3-flash","messages":[${filled(`${message},`)}${message}]}`,
      statuses: bounded(11, `${message},`),
    }),
    () => ({
      name: `${name} of text`,
      kind: "text-embeddings",
      body: `{"model":"svc-embedding-2","input":"${filled("\\u0041")}"}`,
      statuses: served,
    }),
    () => ({
      name: `${name} that claim to be an image`,
      kind: "media-embeddings",
      body: `{"model":"multimodal-embedding-1","input":"data:image/png;base64,${filled("A")}"}`,
      statuses: refused,
      fields: ["input"],
    }),
    () => ({ name: `${name} of spaces`, kind: "speech", body: filled(" "), statuses: refused }),
  ])();
}

/** By the contract's schema: what it refuses must be refused, and a field in question be blamed. */
function judged(draft: {
  readonly name: string;
  readonly kind: BodyKind;
  readonly body: string;
  readonly fields: readonly string[];
}): Draft {
  const { name, kind, body, fields } = draft;
  if (fields.includes("model")) return { name, kind, body, statuses: eitherModel };
  const isJson = canParse(body);
  // What a schema cannot say of chat and of embeddings, it says of speech: there, valid is served.
  const unrefused = kind === "speech" ? served : either;
  const statuses = isRefused(kind, body) ? refused : unrefused;
  // Another tool may be one that the choice does not name: then the choice is blamed.
  const blamed = fields.includes("tools") ? [...fields, "tool_choice"] : fields;
  return { name, kind, body, statuses, ...(isJson ? { fields: blamed } : {}) };
}

function canParse(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function valueAt(body: FuzzBody, place: readonly (string | number)[]): unknown {
  return place.reduce<unknown>(
    (value, step) => (value as Readonly<Record<string | number, unknown>>)[step],
    body,
  );
}

/** A key that is well-formed and unknown. */
export const unknownKey = `sk-svc-${keyMark}0123456789`;
