import { gzipSync } from "node:zlib";
import { bodyKinds, kinds, validBody } from "./body-kinds.ts";
import { clientHeaders, type Header } from "./client-headers.ts";
import type { Dice } from "./dice.ts";
import { type Expectation, type FuzzCase, type RequestOptions, toRequest } from "./fuzz-case.ts";
import { writeJson } from "./json-text.ts";
import { modelId, unknownPath } from "./odd-targets.ts";
import { keyMark, promptMark } from "./odd-values.ts";
import { doomedInner, storedInner } from "./valid-responses.ts";
import { sentence } from "./words.ts";

/** A key that is well-formed and unknown. */
const unknownKey = `sk-svc-${keyMark}0123456789`;
const json: Header = ["content-type", "application/json"];

interface Call {
  readonly options: RequestOptions;
  readonly expects: Expectation;
}

/** A good call: what is odd about a case is laid over it. */
function goodCall(dice: Dice, key: string): Call {
  const headers: readonly Header[] = [["authorization", `Bearer ${key}`], ...clientHeaders(dice)];
  if (dice.percent(25))
    return {
      options: { method: "GET", target: "/v1/models", headers },
      expects: { reply: "models", statuses: [200] },
    };
  const kind = dice.pick(bodyKinds);
  return {
    options: {
      target: kinds[kind].path,
      headers: [...headers, json],
      body: Buffer.from(writeJson(validBody(dice, kind))),
    },
    expects: { reply: kind, statuses: [200] },
  };
}

/** Without a valid key, nothing but 401. */
export function keyCase(dice: Dice, key: string): FuzzCase {
  const { options, expects } = goodCall(dice, key);
  const rest = options.headers.filter(([name]) => name !== "authorization");
  const [isGood, values] = dice.weighted<readonly [boolean, readonly string[]]>([
    [1, [false, []]],
    [1, [false, [""]]],
    [3, [false, [dice.pick(badKeys(key))]]],
    [6, [false, [`Bearer ${spoiltKey(dice, key)}`]]],
    [1, [false, [`Bearer ${unknownKey}`, `Bearer ${unknownKey}`]]],
    [1, [false, [`Bearer ${keyMark.repeat(dice.between(1, 700))}`]]],
    [3, [true, [`${inAnyCase(dice, "bearer")} ${key}`]]],
    [2, [true, [`Bearer${" ".repeat(dice.between(1, 30))}${key}${" ".repeat(dice.below(30))}`]]],
  ]);
  const fields = values.map((value): Header => ["authorization", value]);
  const name = `authorization: ${values.join(" | ").replaceAll(key, "KEY").slice(0, 60)}`;
  const bytes = toRequest({ ...options, headers: [...fields, ...rest] });
  const statuses = isGood ? [200] : [401];
  return {
    group: "keys in headers",
    name,
    bytes,
    form: "good",
    expects: [{ ...expects, statuses }],
  };
}

function inAnyCase(dice: Dice, word: string): string {
  return [...word].map((letter) => (dice.percent(50) ? letter.toUpperCase() : letter)).join("");
}

/** The real key with one letter changed, gone or too many, or its beginning alone. */
function spoiltKey(dice: Dice, key: string): string {
  const at = dice.below(key.length);
  const letter = dice.pick([..."0123456789abcdefghijklmnopqrstuvwxyzABCXYZ-_."]);
  const other = letter === key[at] ? "~" : letter;
  return dice.pick([
    `${key.slice(0, at)}${other}${key.slice(at + 1)}`,
    `${key.slice(0, at)}${key.slice(at + 1)}`,
    `${key.slice(0, at)}${letter}${key.slice(at)}`,
    key.slice(0, at),
  ]);
}

function badKeys(key: string): readonly string[] {
  const middle = Math.floor(key.length / 2);
  return [
    key,
    `Basic ${Buffer.from(`${keyMark}:x`).toString("base64")}`,
    `Bearer ${unknownKey}`,
    `Bearer${key}`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key}x`,
    `Bearer ${key.toUpperCase()}`,
    `Bearer ${key.slice(0, middle)} ${key.slice(middle)}`,
    `Bearer ${key}, Bearer ${key}`,
    `Bearer "${key}"`,
    "Bearer",
    "Bearer ",
    "Bearer null",
    "Bearer __proto__",
    `Bearer sk-svc-\u00ff\u00fe${keyMark}`,
    `Bearer sk-svc-${"0".repeat(64)}`,
    `Token ${keyMark}`,
  ];
}

/** Content types, encodings and other headers around a good body. */
export function headerCase(dice: Dice, key: string): FuzzCase {
  const group = "headers";
  const { options, expects } = goodCall(dice, key);
  const { headers, body } = options;
  if (body === undefined || dice.percent(40)) {
    const [name, more, form] = plainHeaders(dice);
    const bytes = toRequest({ ...options, headers: [...headers, ...more] });
    const alone = form === "odd" ? ({ isAlone: true } as const) : {};
    return { group, name, bytes, form, expects: [expects], ...alone };
  }
  const rest = headers.filter(([name]) => name !== "content-type");
  if (dice.percent(20)) {
    const statuses = [400, 415];
    const bytes = toRequest({
      ...options,
      headers: [...headers, ["content-encoding", dice.pick(["gzip", "GZIP, gzip"])]],
      body: gzipSync(body),
    });
    return { group, name: "gzip", bytes, form: "good", expects: [{ ...expects, statuses }] };
  }
  const [type, status] = dice.percent(50) ? dice.pick(contentTypes) : madeUpType(dice);
  const bytes = toRequest({
    ...options,
    headers: type === undefined ? rest : [...rest, ["content-type", type]],
  });
  const name = `content-type: ${type ?? "none"}`;
  return { group, name, bytes, form: "good", expects: [{ ...expects, statuses: [status] }] };
}

/** JSON with parameters of any kind, or anything but JSON. */
function madeUpType(dice: Dice): readonly [type: string, status: 200 | 415] {
  const word = () => dice.pick(["utf-8", "x", "json", "html", "octet-stream", "9", "ld+json", "q"]);
  const parameters = dice.list(dice.below(4), () => `;${word()}=${word()}`).join("");
  return dice.percent(50)
    ? [`${inAnyCase(dice, "application/json")}${parameters}`, 200]
    : [`${dice.pick(["text", "image", "application/x", "*"])}/${word()}${parameters}`, 415];
}

const contentTypes: readonly (readonly [type: string | undefined, status: 200 | 415])[] = [
  [undefined, 200],
  ["application/json", 200],
  ["application/json; charset=utf-8", 200],
  ["APPLICATION/JSON;CHARSET=UTF-8", 200],
  ["application/json ; charset=latin1", 200],
  ["application/json;", 200],
  ["text/plain", 415],
  ["application/jsonx", 415],
  ["application/x-www-form-urlencoded", 415],
  ["multipart/form-data; boundary=x", 415],
  ["text/html, application/json", 415],
  [promptMark, 415],
];

function plainHeaders(dice: Dice): readonly [string, readonly Header[], "good" | "odd"] {
  const count = dice.between(1, 150);
  const length = dice.magnitude(100, 12_000);
  const large = dice.magnitude(17_000, 200_000);
  const many = (most: number) =>
    Object.fromEntries(dice.list(most, (at): Header => [`x-${at}`, "a"]));
  const good = {
    [`${count} headers`]: many(count),
    [`a header of ${length} bytes`]: { "x-long": "a".repeat(length) },
    "a long name": { ["x".repeat(4_000)]: "a" },
    "high bytes": { "x-odd": "\u00ff\u00fe\u0080" },
    accept: { accept: dice.pick(["text/html", "image/*", "*/*;q=0", "nonsense"]) },
    origin: { origin: dice.pick(["null", "http://evil.test", "*", "\u00ff", "a\tb"]) },
    range: { range: "bytes=0-1" },
    "if-none-match": { "if-none-match": "*" },
    upgrade: { connection: "upgrade", upgrade: "h2c" },
    "method override": { "x-http-method-override": "DELETE" },
    forwarded: { "x-forwarded-for": promptMark, "x-request-id": promptMark },
    cookie: { cookie: `a=${keyMark}` },
    "api-key": { "api-key": keyMark, "openai-organization": "x" },
  };
  const odd = {
    "500 headers": many(500),
    [`a header of ${large} bytes`]: { "x-long": "a".repeat(large) },
    "an escape": { "x-odd": "\u001b[31m" },
    "a second host": { host: dice.pick(["other.test", "[::1", "a b<>"]) },
    expect: { expect: "200-maybe" },
  };
  const [name, fields] = dice.pick(Object.entries({ ...good, ...odd }));
  return [name, Object.entries(fields), name in odd ? "odd" : "good"];
}

/** Paths that are not ours, methods that are not theirs. */
export function routeCase(dice: Dice, key: string): FuzzCase {
  const hasKey = dice.percent(80);
  const bearer: readonly Header[] = hasKey ? [["authorization", `Bearer ${key}`]] : [];
  const headers = [...bearer, ...clientHeaders(dice)];
  const group = "routes";
  if (dice.percent(40)) return { group, form: "good", ...wrongMethod(dice, headers) };
  if (dice.percent(40)) {
    const id = modelId(dice);
    const statuses = hasKey ? [200, 404] : [401, 404];
    const bytes = toRequest({ method: "GET", target: `/v1/models/${id}`, headers });
    const expects: Expectation = { reply: "model", statuses };
    return { group, name: `model ${id.slice(0, 40)}`, bytes, form: "good", expects: [expects] };
  }
  const path = unknownPath(dice);
  const method = dice.pick(["GET", "POST", "PUT", "DELETE"]);
  const bytes = toRequest({ method, target: path, headers });
  return {
    group,
    name: `${method} ${path.slice(0, 40)}`,
    bytes,
    form: "good",
    expects: [{ reply: "health", statuses: [404] }],
  };
}

function wrongMethod(dice: Dice, headers: readonly Header[]) {
  const posts = bodyKinds.map((kind) => kinds[kind].path);
  const path = dice.pick([...posts, "/v1/models", "/v1/models/x", "/healthz"]);
  const isGet = path.startsWith("/v1/models") || path === "/healthz";
  const other = isGet ? ["POST"] : ["GET", "HEAD"];
  const method = dice.pick(["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", ...other]);
  const asked = dice.pick(["authorization", "\u00ff\u007f", "x".repeat(5_000), promptMark, "a\tb"]);
  const cors: readonly Header[] = [
    ["origin", "http://page.test"],
    ["access-control-request-method", "POST"],
    ["access-control-request-headers", asked],
  ];
  const hasBody = dice.percent(30) && method !== "TRACE";
  const expects: Expectation = {
    // Errors have the form of the endpoint.
    reply: path.startsWith("/v1/messages") ? "messages" : "preflight",
    statuses: method === "OPTIONS" ? [204] : [405],
    ...(method === "HEAD" ? { isHead: true } : {}),
  };
  const bytes = toRequest({
    method,
    target: path,
    headers: method === "OPTIONS" && dice.percent(70) ? [...headers, ...cors] : headers,
    ...(hasBody ? { body: Buffer.from(sentence(dice)) } : {}),
  });
  return { name: `${method} ${path}`, bytes, expects: [expects] };
}

/** A stored response is read, listed, or deleted, which works once. */
export function storedCase(dice: Dice, key: string): FuzzCase {
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
