import { validBody } from "./body-kinds.ts";
import { clientHeaders, toLines } from "./client-headers.ts";
import type { Dice } from "./dice.ts";
import type { Expectation, FuzzCase, HttpForm } from "./fuzz-case.ts";
import { writeJson } from "./json-text.ts";
import { promptMark } from "./odd-values.ts";

/** Requests that are wrong, or nearly so, below the level of bodies and headers. */

interface Parts {
  readonly dice: Dice;
  /** A whole body that would be served, and its length in bytes. */
  readonly body: string;
  readonly length: number;
  /** The request line and the headers of a good POST, without those that frame the body. */
  readonly head: string;
  /** The headers of a good GET. */
  readonly fields: string;
  /** What is among them of the client alone. */
  readonly more: string;
}

interface Framed {
  readonly form: HttpForm;
  readonly text: string | Buffer;
  readonly expects?: readonly Expectation[];
  readonly halfCloses?: true;
}

const chat: Expectation = { reply: "chat", statuses: [200] };
const chatOrNot: Expectation = { reply: "chat", statuses: [200, 400] };
const models: Expectation = { reply: "models", statuses: [200] };
const unauthorised: Expectation = { reply: "models", statuses: [401] };

export function framingCase(dice: Dice, key: string): FuzzCase {
  const body = writeJson(validBody(dice, "chat"));
  const more = toLines(clientHeaders(dice));
  const fields = `host: gateway.test\r\nauthorization: Bearer ${key}\r\n${more}`;
  const head = `POST /v1/chat/completions HTTP/1.1\r\n${fields}content-type: application/json\r\n`;
  const [group, names] = dice.pick(groups);
  const name = dice.pick(Object.keys(names));
  const make = names[name];
  if (make === undefined) throw new Error(`there is no case ${name}`);
  const parts = { dice, body, length: Buffer.byteLength(body), head, fields, more };
  const { form, text, expects = [chatOrNot], halfCloses } = make(parts);
  return {
    group,
    name,
    bytes: typeof text === "string" ? Buffer.from(text) : text,
    form,
    expects,
    isAlone: true,
    ...(halfCloses === undefined ? {} : { halfCloses }),
  };
}

type Makers = Readonly<Record<string, (parts: Parts) => Framed>>;

const broken = (text: string | Buffer): Framed => ({ form: "broken", text });
const chunked = (body: string, size = Buffer.byteLength(body).toString(16)) =>
  `transfer-encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`;

const lengths: Makers = {
  "no length, no body": ({ head }) => ({ form: "good", text: `${head}\r\n`, expects: [chatOrNot] }),
  "no length, a body": ({ head, body }) => ({ form: "odd", text: `${head}\r\n${body}` }),
  "the same length twice": ({ head, body, length }) => ({
    form: "odd",
    text: `${head}content-length: ${length}\r\ncontent-length: ${length}\r\n\r\n${body}`,
  }),
  "two lengths": ({ head, body, length }) =>
    broken(`${head}content-length: ${length}\r\ncontent-length: ${length - 1}\r\n\r\n${body}`),
  "a list of lengths": ({ head, body, length }) =>
    broken(`${head}content-length: ${length}, ${length}\r\n\r\n${body}`),
  "a length that is no number": ({ dice, head, body }) => {
    const words = ["-1", "+5", "0x10", "1e3", "5.0", "five", "", "9".repeat(30), "1 2"];
    return broken(`${head}content-length: ${dice.pick(words)}\r\n\r\n${body}`);
  },
  "a length beyond the end": ({ dice, head, body, length }) => ({
    form: "broken",
    text: `${head}content-length: ${length + dice.between(1, 1_000)}\r\n\r\n${body}`,
    halfCloses: true,
  }),
  "a length before the end": ({ dice, head, body, length }) => ({
    form: "odd",
    text: `${head}content-length: ${dice.below(length)}\r\n\r\n${body}`,
  }),
  "more than is allowed": ({ dice, head }) => ({
    form: "good",
    text: `${head}content-length: ${dice.pick([33_554_433, 2 ** 31, 2 ** 40])}\r\n\r\n`,
    expects: [{ reply: "chat", statuses: [413] }],
  }),
  "length and chunks": ({ head, body }) => broken(`${head}content-length: 5\r\n${chunked(body)}`),
  "a body for GET": ({ fields }) => ({
    form: "good",
    text: `GET /v1/models HTTP/1.1\r\n${fields}content-length: 3\r\n\r\nabc`,
    expects: [models],
  }),
};

const chunks: Makers = {
  "a chunked body": ({ head, body }) => ({
    form: "good",
    text: head + chunked(body),
    expects: [chat],
  }),
  "chunk extensions": ({ head, body, length }) => ({
    form: "odd",
    text: head + chunked(body, `${length.toString(16)};a=b;c="d"`),
    expects: [chat],
  }),
  "upper-case and zero-led sizes": ({ head, body, length }) => ({
    form: "odd",
    text: head + chunked(body, `000${length.toString(16).toUpperCase()}`),
    expects: [chat],
  }),
  "a bad size": ({ dice, head, body }) => {
    const sizes = ["zz", "-5", "", " ", "0x10", "f".repeat(17), "g"];
    return broken(head + chunked(body, dice.pick(sizes)));
  },
  "a chunk longer than its size": ({ head, body, length }) =>
    broken(head + chunked(body, (length - 1).toString(16))),
  "no end": ({ dice, head, body, length }) => ({
    form: "broken",
    text: `${head}transfer-encoding: chunked\r\n\r\n${length.toString(16)}\r\n${body.slice(0, dice.below(body.length))}`,
    halfCloses: true,
  }),
  trailers: ({ head, body }) => ({
    form: "odd",
    text: `${(head + chunked(body)).slice(0, -2)}x-trailer: ${promptMark}\r\n\r\n`,
    expects: [chat],
  }),
  "another coding": ({ dice, head, body }) => {
    const codings = ["gzip", "identity", "xchunked", "chunked, identity", "gzip, chunked"];
    return broken(`${head}transfer-encoding: ${dice.pick(codings)}\r\n\r\n${body}`);
  },
  "smuggled behind the last chunk": ({ head, body, fields }) => ({
    form: "odd",
    text: `${head}${chunked(body)}GET /v1/models HTTP/1.1\r\n${fields}\r\n`,
    expects: [chatOrNot, models],
  }),
};

const randomBytes = (dice: Dice, most: number) =>
  Buffer.from(dice.list(dice.between(1, most), () => dice.below(256)));
const get = (target: string, rest: string, version = "HTTP/1.1") =>
  `GET ${target} ${version}\r\n${rest}\r\n`;

const heads: Makers = {
  "HTTP/1.0": ({ fields }) => ({
    form: "good",
    text: get("/v1/models", fields, "HTTP/1.0"),
    expects: [models],
  }),
  "another version": ({ dice, fields }) => ({
    form: "version",
    text: get(
      "/v1/models",
      fields,
      dice.pick(["HTTP/2.0", "HTTP/1.2", "HTTP/9", "HTCPCP/1.0", ""]),
    ),
    halfCloses: true,
  }),
  "no host": ({ more }) => broken(get("/v1/models", more)),
  "an odd host": ({ dice, fields }) => ({
    form: "odd",
    text: get("/v1/models", fields).replace("gateway.test", dice.pick(oddHosts)),
    expects: [{ reply: "models", statuses: [200] }],
  }),
  "the absolute form": ({ dice, fields }) => ({
    form: "odd",
    text: get(dice.pick(absoluteTargets), fields),
    expects: [{ reply: "models", statuses: [200, 404] }],
  }),
  "no path at all": ({ dice, fields }) => ({
    form: "odd",
    text: get(
      dice.pick(["*", "v1/models", "//", "?", "#", "http://", "://", "\\v1\\models"]),
      fields,
    ),
    expects: [{ reply: "models", statuses: [200, 404] }],
  }),
  "a raw byte in the target": ({ dice, fields }) => ({
    form: "version",
    text: Buffer.from(get(`/v1/models/${dice.pick(["a b", "\0", "\t"])}`, fields)),
    expects: [{ reply: "model", statuses: [404] }],
    halfCloses: true,
  }),
  "a control character in the target": ({ fields }) => ({
    form: "odd",
    text: get("/v1/models/\u007f", fields),
    expects: [{ reply: "model", statuses: [404] }],
  }),
  "a long target": ({ dice, fields }) => ({
    form: "odd",
    text: get(`/${"a".repeat(dice.magnitude(1_000, 100_000))}`, fields),
    expects: [{ reply: "health", statuses: [404] }],
  }),
  "an unknown method": ({ dice, fields }) => {
    const methods = ["BREW", "get", "G", "A".repeat(300), "GE T", "\u0000"];
    return {
      form: "version",
      text: get("/v1/models", fields).replace("GET", dice.pick(methods)),
      halfCloses: true,
    };
  },
  CONNECT: ({ fields }) => ({
    form: "odd",
    text: get("gateway.test:80", fields).replace("GET", "CONNECT"),
    expects: [{ reply: "health", statuses: [404, 405] }],
  }),
  "a bad header line": ({ dice, fields }) =>
    broken(get("/v1/models", `${fields}${dice.pick(badLines)}\r\n`)),
  "bare line feeds": ({ fields }) => ({
    form: "version",
    text: get("/v1/models", fields).replaceAll("\r\n", "\n"),
    halfCloses: true,
  }),
  "cut off in the head": ({ dice, fields }) => {
    const whole = get("/v1/models", fields);
    return { form: "version", text: whole.slice(0, dice.below(whole.length)), halfCloses: true };
  },
  "no HTTP": ({ dice }) => ({
    form: "version",
    text: randomBytes(dice, 200),
    halfCloses: true,
  }),
  "a TLS hello": ({ dice }) => ({
    form: "broken",
    text: Buffer.concat([Buffer.from("16030100c8010000c40303", "hex"), randomBytes(dice, 200)]),
    halfCloses: true,
  }),
  "an HTTP/2 preface": ({ dice }) => ({
    form: "version",
    text: Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), randomBytes(dice, 100)]),
    halfCloses: true,
  }),
};

const oddHosts: readonly string[] = [
  "a b<>",
  "[::1",
  "x:99999999",
  "\u00ff",
  "a".repeat(1_000),
  "@",
];
const absoluteTargets: readonly string[] = [
  "http://gateway.test/v1/models",
  "HTTP://OTHER.TEST/v1/models",
  "https://gateway.test:1/v1/models?x=y",
  "http://[::1/v1/models",
  "http:///v1/models",
  "http://u:p@gateway.test/v1/models",
];
const badLines: readonly string[] = [
  "x-space : a",
  "x-fold: a\r\n b",
  "x-nul: a\u0000b",
  "x-cr: a\rb",
  "no colon",
  ": no name",
  "x odd: a",
  "x(): a\u0000",
];

const exchanges: Makers = {
  "expect: 100-continue": ({ head, body, length }) => ({
    form: "good",
    text: `${head}expect: 100-continue\r\ncontent-length: ${length}\r\n\r\n${body}`,
    expects: [chat],
  }),
  "pipelined GETs": ({ dice, fields }) => {
    const count = dice.between(2, 20);
    return {
      form: "good",
      text: get("/v1/models", fields).repeat(count),
      expects: dice.list(count, () => models),
    };
  },
  "pipelined, some without a key": ({ fields, more }) => ({
    form: "good",
    text:
      get("/v1/models", fields) +
      get("/v1/models", `host: gateway.test\r\n${more}`) +
      get("/v1/models", fields),
    expects: [models, unauthorised, models],
  }),
  // The runtime ends a connection on which a request comes before the answer to a slow one.
  "pipelined behind a POST": ({ head, body, length, fields }) => ({
    form: "odd",
    text: `${head}content-length: ${length}\r\n\r\n${body}${get("/v1/models", fields)}`,
    expects: [chatOrNot, models],
  }),
  HEAD: ({ fields }) => ({
    form: "good",
    text: get("/v1/models", fields).replace("GET", "HEAD"),
    expects: [{ ...models, isHead: true }],
  }),
  "connection: close": ({ fields }) => ({
    form: "good",
    text: get("/v1/models", `${fields}connection: close\r\n`),
    expects: [models],
  }),
  "a caller who leaves": ({ head, body, length }) => ({
    form: "odd",
    text: `${head}content-length: ${length}\r\n\r\n${body}`,
    halfCloses: true,
  }),
};

const groups: readonly (readonly [string, Makers])[] = [
  ["lengths", lengths],
  ["chunks", chunks],
  ["request heads", heads],
  ["exchanges", exchanges],
];
