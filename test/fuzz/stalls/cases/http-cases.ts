import {
  casesOf,
  chatRequest,
  fill,
  largestBytes,
  nested,
  rawChat,
  type StallCase,
  type StallRequest,
} from "./stall-case.ts";
import { chatStreamReply } from "./upstream-bytes.ts";

/** Headers, paths and ways to deliver a body. */
const hello = (headers: Readonly<Record<string, string>>) => ({ ...chatRequest("Hi"), headers });
const longest = 8_000;
const often = { times: 100, atOnce: 4 };

const headers: Readonly<Record<string, string>> = {
  "content-type": `application/json${" ".repeat(longest)}x`,
  authorization: `Bearer ${" ".repeat(longest)}sk-svc-x`,
  cookie: fill("a=b; ", longest),
  "idempotency-key": `${"k".repeat(longest)}\u00e9`,
  origin: `http://${fill("a.", longest)}`,
  "content-encoding": fill("gzip, ", longest),
  traceparent: fill("00-", longest),
  "x-long": "a".repeat(longest),
};
const manyHeaders = () =>
  Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`x-many-${at}`, "a".repeat(100)]));

const delivered = (text: () => string, delivery: NonNullable<StallRequest["delivery"]>) => () => ({
  ...chatRequest(text()),
  delivery,
});
const idempotent = (request: () => StallRequest) => () => ({
  ...request(),
  headers: { "idempotency-key": crypto.randomUUID() },
});

export const httpCases: readonly StallCase[] = [
  ...Object.entries(headers).flatMap(([name, value]) =>
    casesOf(
      `reading of the header ${name}`,
      { [`header-${name}`]: () => hello({ [name]: value }) },
      { times: 20 },
    ),
  ),
  ...casesOf(
    "reading of headers",
    { "header-80-of-100-characters": () => hello(manyHeaders()) },
    often,
  ),
  ...casesOf(
    "search for the endpoint (src/gateway/versions.ts)",
    {
      "path-of-slashes": () => ({ path: "/".repeat(longest) }),
      "path-of-escapes": () => ({ path: `/v1/models/${"%2f".repeat(2_600)}` }),
      "path-of-many-steps": () => ({ path: "/a".repeat(4_000) }),
    },
    often,
  ),
  ...casesOf(
    "search for the endpoint",
    { "query-of-8kb": () => ({ path: `/v1/models?${fill("a=%20&", longest)}` }) },
    often,
  ),
  ...casesOf("gathering of a body without a length", {
    "body-500000-chunks-of-a-byte": delivered(() => "a".repeat(500_000), "bytes"),
    "body-2-million-chunks-of-a-byte": delivered(() => "a".repeat(2_000_000), "bytes"),
    "body-31mb-in-chunks": delivered(() => fill("hello world ", largestBytes), "chunked"),
  }),
  ...casesOf(
    "gathering of bodies",
    { "body-100-slow-ones": delivered(() => "a".repeat(200_000), "slow") },
    { times: 100, atOnce: 100 },
  ),
  ...casesOf(
    "memory for bodies in flight",
    { "body-60-of-31mb-held": delivered(() => "a".repeat(largestBytes), "held") },
    { times: 60, atOnce: 60 },
  ),
  ...casesOf(
    "memory for bodies in flight, several large bodies in one turn",
    { "body-8-of-31mb-at-once": () => chatRequest("a".repeat(largestBytes)) },
    { times: 8, atOnce: 8 },
  ),
  ...casesOf("hash of the body", {
    "idempotency-key-with-31mb-of-text": idempotent(() =>
      chatRequest(fill("hello world ", largestBytes)),
    ),
    "idempotency-key-with-nested-64kb": idempotent(() => rawChat(`"unknown":${nested(32_000)}`)),
    "idempotency-key-with-nested-64kb-in-embeddings": idempotent(() => ({
      path: "/v1/embeddings",
      body: Buffer.from(`{"model":"svc-embedding-2","input":"x","unknown":${nested(32_000)}}`),
    })),
  }),
  ...casesOf(
    "nothing: the load of plain requests, to compare with",
    { "chat-200-plain-ones": () => chatRequest("Hi") },
    { times: 200, atOnce: 8 },
  ),
  ...casesOf(
    "nothing: the load of plain streams, to compare with",
    { "chat-50-plain-streams": () => chatRequest("Hi", { stream: true }) },
    {
      reply: () => chatStreamReply(Array.from({ length: 100 }, () => ({ content: "word " }))),
      times: 50,
      atOnce: 8,
    },
  ),
];
