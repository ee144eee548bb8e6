import { chatRequest, fill, largestBytes, rawChat, type StallCase } from "./stall-case.ts";
import { chatStreamReply } from "./upstream-bytes.ts";

/** Headers, paths and ways to deliver a body. */
const hello = (headers: Readonly<Record<string, string>>) => ({ ...chatRequest("Hi"), headers });
const many = (count: number, toValue: (at: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-many-${at}`, toValue(at)]));
const longest = 8_000;

const oneHeader = (name: string, value: string): StallCase => ({
  name: `header-${name}`,
  attacks: `reading of the header ${name}`,
  request: () => hello({ [name]: value }),
  times: 20,
});

export const httpCases: readonly StallCase[] = [
  oneHeader("content-type", `application/json${" ".repeat(longest)}x`),
  oneHeader("authorization", `Bearer ${" ".repeat(longest)}sk-svc-x`),
  oneHeader("cookie", fill("a=b; ", longest)),
  oneHeader("idempotency-key", `${"k".repeat(longest)}\u00e9`),
  oneHeader("origin", `http://${fill("a.", longest)}`),
  oneHeader("content-encoding", fill("gzip, ", longest)),
  oneHeader("traceparent", fill("00-", longest)),
  oneHeader("x-long", "a".repeat(longest)),
  {
    name: "header-80-of-100-characters",
    attacks: "reading of headers",
    request: () => hello(many(80, () => "a".repeat(100))),
    times: 100,
    atOnce: 4,
  },
  ...["/".repeat(longest), "/v1/models/".concat("%2f".repeat(2_600)), "/a".repeat(4_000)].map(
    (path, at): StallCase => ({
      name: `path-${["of-slashes", "of-escapes", "of-many-steps"][at] ?? at}`,
      attacks: "search for the endpoint (src/gateway/versions.ts)",
      request: () => ({ path }),
      times: 100,
      atOnce: 4,
    }),
  ),
  {
    name: "query-of-8kb",
    attacks: "search for the endpoint",
    request: () => ({ path: `/v1/models?${fill("a=%20&", longest)}` }),
    times: 100,
    atOnce: 4,
  },
  {
    name: "body-500000-chunks-of-a-byte",
    attacks: "gathering of a body without a length",
    request: () => ({ ...chatRequest("a".repeat(500_000)), delivery: "bytes" }),
  },
  {
    name: "body-2-million-chunks-of-a-byte",
    attacks: "gathering of a body without a length",
    request: () => ({ ...chatRequest("a".repeat(2_000_000)), delivery: "bytes" }),
  },
  {
    name: "body-31mb-in-chunks",
    attacks: "gathering of a body without a length",
    request: () => ({ ...chatRequest(fill("hello world ", largestBytes)), delivery: "chunked" }),
  },
  {
    name: "body-100-slow-ones",
    attacks: "gathering of bodies",
    request: () => ({ ...chatRequest("a".repeat(200_000)), delivery: "slow" }),
    times: 100,
    atOnce: 100,
  },
  {
    name: "body-60-of-31mb-held",
    attacks: "memory for bodies in flight",
    request: () => ({ ...chatRequest("a".repeat(largestBytes)), delivery: "held" }),
    times: 60,
    atOnce: 60,
  },
  {
    name: "body-8-of-31mb-at-once",
    attacks: "memory for bodies in flight, several large bodies in one turn",
    request: () => chatRequest("a".repeat(largestBytes)),
    times: 8,
    atOnce: 8,
  },
  {
    name: "idempotency-key-with-31mb-of-text",
    attacks: "hash of the body",
    request: () => ({
      ...chatRequest(fill("hello world ", largestBytes)),
      headers: { "idempotency-key": crypto.randomUUID() },
    }),
  },
  {
    name: "idempotency-key-with-nested-64kb",
    attacks: "hash of the body",
    request: () => ({
      ...rawChat(`"unknown":${"[".repeat(32_000)}${"]".repeat(32_000)}`),
      headers: { "idempotency-key": crypto.randomUUID() },
    }),
  },
  {
    name: "idempotency-key-with-nested-64kb-in-embeddings",
    attacks: "hash of the body",
    request: () => ({
      path: "/v1/embeddings",
      body: Buffer.from(
        `{"model":"svc-embedding-2","input":"x","unknown":${"[".repeat(32_000)}${"]".repeat(32_000)}}`,
      ),
      headers: { "idempotency-key": crypto.randomUUID() },
    }),
  },
  {
    name: "chat-200-plain-ones",
    attacks: "nothing: the load of plain requests, to compare with",
    request: () => chatRequest("Hi"),
    times: 200,
    atOnce: 8,
  },
  {
    name: "chat-50-plain-streams",
    attacks: "nothing: the load of plain streams, to compare with",
    request: () => chatRequest("Hi", { stream: true }),
    reply: () => chatStreamReply(Array.from({ length: 100 }, () => ({ content: "word " }))),
    times: 50,
    atOnce: 8,
  },
];
