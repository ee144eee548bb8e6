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
  readonly expects: readonly Expectation[];
  readonly halfCloses?: true;
}

const chat: Expectation = { reply: "chat", statuses: [200] };
const chatOrNot: Expectation = { reply: "chat", statuses: [200, 400] };
const models: Expectation = { reply: "models", statuses: [200] };
const modelsOrNot: Expectation = { reply: "models", statuses: [200, 404] };
const noModel: Expectation = { reply: "model", statuses: [404] };
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
  const { form, text, expects, halfCloses } = make(parts);
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
type Making = (text: string | Buffer, ...expects: readonly Expectation[]) => Framed;

const framed =
  (form: HttpForm): Making =>
  (text, ...expects) => ({ form, text, expects: expects.length > 0 ? expects : [chatOrNot] });
const good = framed("good");
const odd = framed("odd");
const broken = framed("broken");
const version = framed("version");
/** The caller's side ends behind the bytes. */
const ended = (made: Framed): Framed => ({ ...made, halfCloses: true });

const chunked = (body: string, size = Buffer.byteLength(body).toString(16)) =>
  `transfer-encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`;
const withLength = (head: string, length: number | string, body: string) =>
  `${head}content-length: ${length}\r\n\r\n${body}`;
const randomBytes = (dice: Dice, most: number) =>
  Buffer.from(dice.list(dice.between(1, most), () => dice.below(256)));
const get = (target: string, rest: string, http = "HTTP/1.1") =>
  `GET ${target} ${http}\r\n${rest}\r\n`;
const getModels = (rest: string, http?: string) => get("/v1/models", rest, http);

const lengths: Makers = {
  "no length, no body": ({ head }) => good(`${head}\r\n`),
  "no length, a body": ({ head, body }) => odd(`${head}\r\n${body}`),
  "the same length twice": ({ head, body, length }) =>
    odd(withLength(`${head}content-length: ${length}\r\n`, length, body)),
  "two lengths": ({ head, body, length }) =>
    broken(withLength(`${head}content-length: ${length}\r\n`, length - 1, body)),
  "a list of lengths": ({ head, body, length }) =>
    broken(withLength(head, `${length}, ${length}`, body)),
  "a length that is no number": ({ dice, head, body }) => {
    const words = ["-1", "+5", "0x10", "1e3", "5.0", "five", "", "9".repeat(30), "1 2"];
    return broken(withLength(head, dice.pick(words), body));
  },
  "a length beyond the end": ({ dice, head, body, length }) =>
    ended(broken(withLength(head, length + dice.between(1, 1_000), body))),
  "a length before the end": ({ dice, head, body, length }) =>
    odd(withLength(head, dice.below(length), body)),
  "more than is allowed": ({ dice, head }) =>
    good(withLength(head, dice.pick([33_554_433, 2 ** 31, 2 ** 40]), ""), {
      reply: "chat",
      statuses: [413],
    }),
  "length and chunks": ({ head, body }) => broken(`${head}content-length: 5\r\n${chunked(body)}`),
  "a body for GET": ({ fields }) =>
    good(`GET /v1/models HTTP/1.1\r\n${withLength(fields, 3, "abc")}`, models),
};

const chunks: Makers = {
  "a chunked body": ({ head, body }) => good(head + chunked(body), chat),
  "chunk extensions": ({ head, body, length }) =>
    odd(head + chunked(body, `${length.toString(16)};a=b;c="d"`), chat),
  "upper-case and zero-led sizes": ({ head, body, length }) =>
    odd(head + chunked(body, `000${length.toString(16).toUpperCase()}`), chat),
  "a bad size": ({ dice, head, body }) =>
    broken(head + chunked(body, dice.pick(["zz", "-5", "", " ", "0x10", "f".repeat(17), "g"]))),
  "a chunk longer than its size": ({ head, body, length }) =>
    broken(head + chunked(body, (length - 1).toString(16))),
  "no end": ({ dice, head, body, length }) => {
    const start = `transfer-encoding: chunked\r\n\r\n${length.toString(16)}\r\n`;
    return ended(broken(`${head}${start}${body.slice(0, dice.below(body.length))}`));
  },
  trailers: ({ head, body }) =>
    odd(`${(head + chunked(body)).slice(0, -2)}x-trailer: ${promptMark}\r\n\r\n`, chat),
  "another coding": ({ dice, head, body }) => {
    const codings = ["gzip", "identity", "xchunked", "chunked, identity", "gzip, chunked"];
    return broken(`${head}transfer-encoding: ${dice.pick(codings)}\r\n\r\n${body}`);
  },
  "smuggled behind the last chunk": ({ head, body, fields }) =>
    odd(`${head}${chunked(body)}${getModels(fields)}`, chatOrNot, models),
};

const heads: Makers = {
  "HTTP/1.0": ({ fields }) => good(getModels(fields, "HTTP/1.0"), models),
  "another version": ({ dice, fields }) => {
    const versions = ["HTTP/2.0", "HTTP/1.2", "HTTP/9", "HTCPCP/1.0", ""];
    return ended(version(getModels(fields, dice.pick(versions))));
  },
  "no host": ({ more }) => broken(getModels(more)),
  "an odd host": ({ dice, fields }) =>
    odd(getModels(fields).replace("gateway.test", dice.pick(oddHosts)), models),
  "the absolute form": ({ dice, fields }) =>
    odd(get(dice.pick(absoluteTargets), fields), modelsOrNot),
  "no path at all": ({ dice, fields }) => {
    const targets = ["*", "v1/models", "//", "?", "#", "http://", "://", "\\v1\\models"];
    return odd(get(dice.pick(targets), fields), modelsOrNot);
  },
  "a raw byte in the target": ({ dice, fields }) => {
    const bytes = Buffer.from(get(`/v1/models/${dice.pick(["a b", "\0", "\t"])}`, fields));
    return ended(version(bytes, noModel));
  },
  "a control character in the target": ({ fields }) =>
    odd(get("/v1/models/\u007f", fields), noModel),
  "a long target": ({ dice, fields }) =>
    odd(get(`/${"a".repeat(dice.magnitude(1_000, 100_000))}`, fields), {
      reply: "health",
      statuses: [404],
    }),
  "an unknown method": ({ dice, fields }) => {
    const methods = ["BREW", "get", "G", "A".repeat(300), "GE T", "\u0000"];
    return ended(version(getModels(fields).replace("GET", dice.pick(methods))));
  },
  CONNECT: ({ fields }) =>
    odd(get("gateway.test:80", fields).replace("GET", "CONNECT"), {
      reply: "health",
      statuses: [404, 405],
    }),
  "a bad header line": ({ dice, fields }) =>
    broken(getModels(`${fields}${dice.pick(badLines)}\r\n`)),
  "bare line feeds": ({ fields }) => ended(version(getModels(fields).replaceAll("\r\n", "\n"))),
  "cut off in the head": ({ dice, fields }) => {
    const whole = getModels(fields);
    return ended(version(whole.slice(0, dice.below(whole.length))));
  },
  "no HTTP": ({ dice }) => ended(version(randomBytes(dice, 200))),
  "a TLS hello": ({ dice }) => {
    const hello = Buffer.from("16030100c8010000c40303", "hex");
    return ended(broken(Buffer.concat([hello, randomBytes(dice, 200)])));
  },
  "an HTTP/2 preface": ({ dice }) => {
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    return ended(version(Buffer.concat([preface, randomBytes(dice, 100)])));
  },
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
  "expect: 100-continue": ({ head, body, length }) =>
    good(withLength(`${head}expect: 100-continue\r\n`, length, body), chat),
  "pipelined GETs": ({ dice, fields }) => {
    const count = dice.between(2, 20);
    return good(getModels(fields).repeat(count), ...dice.list(count, () => models));
  },
  "pipelined, some without a key": ({ fields, more }) => {
    const without = getModels(`host: gateway.test\r\n${more}`);
    const text = getModels(fields) + without + getModels(fields);
    return good(text, models, unauthorised, models);
  },
  // The runtime ends a connection on which a request comes before the answer to a slow one.
  "pipelined behind a POST": ({ head, body, length, fields }) =>
    odd(withLength(head, length, body) + getModels(fields), chatOrNot, models),
  HEAD: ({ fields }) => good(getModels(fields).replace("GET", "HEAD"), { ...models, isHead: true }),
  "connection: close": ({ fields }) => good(getModels(`${fields}connection: close\r\n`), models),
  "a caller who leaves": ({ head, body, length }) => ended(odd(withLength(head, length, body))),
};

const groups: readonly (readonly [string, Makers])[] = [
  ["lengths", lengths],
  ["chunks", chunks],
  ["request heads", heads],
  ["exchanges", exchanges],
];
