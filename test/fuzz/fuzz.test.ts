/** The fuzzers' own tests: a run of 700 cases, and proof that each way to fail is seen. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { chatRequest } from "../../src/wire/v1/chat/request.ts";
import { embeddingRequest } from "../../src/wire/v1/embeddings/request.ts";
import { speechRequest } from "../../src/wire/v1/speech/request.ts";
import { leaksIn, runCampaign, samenessIn } from "./campaign.ts";
import { bodyKinds, wholeBodies } from "./cases/bodies.ts";
import { makeCase } from "./cases/cases.ts";
import type { Expectation, FuzzCase } from "./cases/fuzz-case.ts";
import { keyMark, promptMark } from "./cases/odd-values.ts";
import { Connection, type Outcome, type WireReply } from "./connection.ts";
import { checkReply, judge } from "./judge.ts";
import { fromCommandLine } from "./options.ts";
import { isRefused } from "./oracle.ts";
import { runOurs } from "./ours.ts";
import { forThisGateway, problemsOf } from "./schemathesis.ts";
import { type FuzzTarget, startFuzzTarget } from "./target.ts";

const seed = 20_261_119;

let target: FuzzTarget;
beforeAll(async () => {
  target = await startFuzzTarget();
});
afterAll(() => target.stop());

test("400 odd requests find no 5xx, no hang, no unshaped error and no leak", async () => {
  const result = await runOurs({ seed, first: 0, cases: 400, target });
  const { problems, casesRun, distinct, groups, statuses } = result;
  expect(problems).toEqual([]);
  expect(casesRun).toBe(400);
  expect(distinct).toBeWithin(388, 401);
  // All kinds of cases were among them, and all kinds of answers.
  expect(Object.keys(groups).length).toBeGreaterThanOrEqual(15);
  for (const status of [200, 204, 400, 401, 404, 405, 415])
    expect(statuses[status] ?? 0).toBeGreaterThan(0);
});

describe("cases", () => {
  test("are the same for the same seed and number, and others for others", () => {
    const bytesOf = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => makeCase(from, at, "KEY").bytes.toString("latin1"));
    const some = bytesOf(seed, 300);
    expect(bytesOf(seed, 300)).toEqual(some);
    expect(makeCase(seed, 299, "KEY").bytes.toString("latin1")).toBe(some[299] ?? "");
    expect(new Set(some).size).toBeGreaterThan(290);
    const others = new Set(bytesOf(seed + 1, 300));
    expect(some.filter((text) => others.has(text)).length).toBeLessThan(10);
  });

  test("hardly ever come twice, in any group", () => {
    const sent = new Map<string, string>();
    const repeats: Record<string, number> = {};
    const all: Record<string, number> = {};
    for (let at = 0; at < 2_500; at++) {
      const { group, bytes } = makeCase(seed, at, "sk-svc-0123456789abcdef");
      const hash = String(Bun.hash(bytes));
      all[group] = (all[group] ?? 0) + 1;
      if (sent.has(hash)) repeats[group] = (repeats[group] ?? 0) + 1;
      sent.set(hash, group);
    }
    const dull = Object.keys(all).filter(
      (group) => (repeats[group] ?? 0) > (all[group] ?? 0) * 0.05,
    );
    expect(dull).toEqual([]);
  });

  test("that come twice are counted once, and a run with too many of them fails", async () => {
    const make: typeof makeCase = (from, at, key) => makeCase(from, at % 20, key);
    const result = await runOurs({ seed, first: 0, cases: 40, make, target });
    expect(result).toMatchObject({ casesRun: 40, distinct: 20 });
    expect(result.problems).toEqual(["only 20 of 40 cases are distinct requests"]);
    expect(samenessIn({ casesRun: 100, distinct: 95 })).toEqual([]);
    expect(samenessIn({ casesRun: 100, distinct: 94 })).toEqual([
      "only 94 of 100 cases are distinct requests",
    ]);
  });

  test("start from bodies that name every field of the contract and that it accepts", () => {
    const schemas = {
      chat: chatRequest,
      "text-embeddings": embeddingRequest,
      "media-embeddings": embeddingRequest,
      speech: speechRequest,
    };
    for (const kind of bodyKinds) {
      const named = new Set(wholeBodies[kind].flatMap((body) => Object.keys(body)));
      const missing = Object.keys(schemas[kind].properties).filter((name) => !named.has(name));
      // Vectors of images and videos have one length.
      expect(missing).toEqual(kind === "media-embeddings" ? ["dimensions"] : []);
      for (const body of wholeBodies[kind])
        expect(isRefused(kind, JSON.stringify(body))).toBe(false);
    }
  });
});

const json = { "content-type": "application/json" };
const goodError = { message: "m", type: "invalid_request_error", param: "n", code: "c" };

function reply(status: number, body: unknown, headers: Record<string, string> = json): WireReply {
  return {
    status,
    headers: new Map(
      Object.entries({ "x-request-id": `req_${"0123456789abcdef".repeat(2)}`, ...headers }),
    ),
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  };
}

describe("a reply", () => {
  const refused: Expectation = { reply: "chat", statuses: [400, 500, 502], fields: ["m", "n"] };
  const served: Expectation = { reply: "chat", statuses: [200] };

  test("that is right passes", () => {
    expect(checkReply(reply(400, { error: goodError }), refused)).toBeUndefined();
    expect(checkReply(reply(400, { error: { ...goodError, param: "n.x" } }), refused)).toBe(
      undefined,
    );
  });

  test("of 500 or 502 fails even where the shape is right", () => {
    expect(checkReply(reply(500, { error: goodError }), refused)).toBe("a 500");
    expect(checkReply(reply(502, { error: goodError }), refused)).toBe("a 502");
  });

  test("in HTML fails, whatever its content type says", () => {
    const html = "<html><body>Bad Request</body></html>";
    expect(checkReply(reply(400, html, { "content-type": "text/html" }), refused)).toBe(
      "an error that is not JSON",
    );
    expect(checkReply(reply(400, html), refused)).toContain("error reply");
  });

  test("without one of the four keys, with a fifth, or with a wrong one fails", () => {
    const { code: _code, ...withoutCode } = goodError;
    const { param: _param, ...withoutParam } = goodError;
    for (const error of [
      withoutCode,
      withoutParam,
      { ...goodError, code: null },
      { ...goodError, message: 1 },
      { ...goodError, stack: "at line 1" },
      "text",
    ])
      expect(checkReply(reply(400, { error }), refused)).toBeString();
    expect(checkReply(reply(400, { error: goodError, more: 1 }), refused)).toBeString();
  });

  test("that blames another field, or is another status, fails", () => {
    const other = { ...goodError, param: "nn" };
    expect(checkReply(reply(400, { error: other }), refused)).toBe(
      'it blames "nn", not "m" or "n"',
    );
    expect(checkReply(reply(400, { error: goodError }), served)).toBe("400 where 200 is right");
  });

  test("without a request id, or with a header that the request made up, fails", () => {
    const headers = { ...json, "x-request-id": "" };
    expect(checkReply(reply(400, { error: goodError }, headers), refused)).toBe("no x-request-id");
    const injected = { ...json, "x-injected": "yes" };
    expect(checkReply(reply(400, { error: goodError }, injected), refused)).toBeString();
  });

  test("that repeats a prompt or a key fails", () => {
    for (const secret of [promptMark, keyMark]) {
      const error = { ...goodError, message: `not ${secret}` };
      expect(checkReply(reply(400, { error }), refused)).toBe("an error that repeats a secret");
    }
  });

  test("of 200 fails when it breaks its schema, as JSON, events or sound", () => {
    const events = { "content-type": "text/event-stream; charset=utf-8" };
    expect(checkReply(reply(200, { id: "x" }), served)).toContain("chat reply");
    expect(checkReply(reply(200, "data: [DONE]\n", events), served)).toBeString();
    expect(checkReply(reply(200, "data: {}\n\ndata: [DONE]\n\n", events), served)).toContain(
      "chunk reply",
    );
    expect(checkReply(reply(200, 'data: {"error":{}}\n\n', events), served)).toBeString();
    const speech: Expectation = { reply: "speech", statuses: [200] };
    expect(checkReply(reply(200, "no sound", { "content-type": "audio/wav" }), speech)).toBe(
      "no WAV file",
    );
  });
});

describe("a case", () => {
  const refusal = reply(400, "", {});
  const bare: WireReply = { ...refusal, headers: new Map([["connection", "close"]]) };
  const expects: readonly Expectation[] = [{ reply: "models", statuses: [400] }];
  const caseOf = (form: FuzzCase["form"]): FuzzCase => ({
    group: "test",
    name: "test",
    bytes: Buffer.alloc(0),
    form,
    expects,
  });
  const ended = (replies: readonly WireReply[], more: Partial<Outcome> = {}): Outcome => ({
    replies,
    end: replies.length > 0 ? "open" : "closed",
    leftBytes: 0,
    tookMs: 1,
    ...more,
  });

  test("of good HTTP must be answered by our code, once, and with nothing behind it", () => {
    const ours = reply(400, { error: goodError });
    expect(judge(caseOf("good"), ended([ours])).problem).toBeUndefined();
    expect(judge(caseOf("good"), ended([bare])).problem).toContain("no x-request-id");
    expect(judge(caseOf("good"), ended([])).problem).toContain("0 of 1 replies");
    expect(judge(caseOf("good"), ended([ours], { leftBytes: 3 })).problem).toBe(
      "3 bytes behind the reply",
    );
  });

  test("of broken HTTP may only be refused by the parser, which counts apart", () => {
    expect(judge(caseOf("broken"), ended([bare]))).toMatchObject({ isBelowUs: true });
    expect(judge(caseOf("broken"), ended([bare])).problem).toBeUndefined();
    expect(judge(caseOf("broken"), ended([])).problem).toBeUndefined();
    for (const status of [200, 404, 500, 505])
      expect(judge(caseOf("broken"), ended([{ ...bare, status }])).problem).toBeString();
    expect(judge(caseOf("version"), ended([{ ...bare, status: 505 }])).problem).toBe(undefined);
    expect(judge(caseOf("version"), ended([{ ...bare, status: 500 }])).problem).toBeString();
  });
});

/** A server that does with each connection what a test wants. */
async function withServer(
  onData: (write: (text: string) => void) => void,
  run: (origin: string) => Promise<void>,
): Promise<void> {
  const server: Server = createServer((socket) => {
    socket.on("data", () => onData((text) => socket.write(text)));
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  try {
    await run(`http://127.0.0.1:${address.port}`);
  } finally {
    server.close();
  }
}

describe("a server", () => {
  const campaign = { key: "KEY", seed, cases: 50, connections: 4, deadlineMs: 100 };

  test("that never answers is reported as hanging, with the number of the case", async () => {
    await withServer(
      () => {},
      async (origin) => {
        const { failures } = await runCampaign({ ...campaign, origin });
        expect(failures[0]?.problem).toMatch(/^no reply after \d+ ms$/);
        expect(failures[0]?.caseNumber).toBeLessThan(50);
        // It does not go on forever either.
        expect(failures.length).toBeLessThan(30);
      },
    );
  });

  test("that answers everything with a 500 is reported case by case", async () => {
    const text = "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n";
    await withServer(
      (write) => write(text),
      async (origin) => {
        const { failures } = await runCampaign({ ...campaign, origin });
        expect(failures.length).toBeGreaterThanOrEqual(20);
        expect(failures.filter(({ problem }) => problem.startsWith("a 500"))).not.toEqual([]);
      },
    );
  });

  test("that ends while cases are under way is reported", async () => {
    await withServer(
      () => {},
      async (origin) => {
        const exited = Promise.resolve(139);
        const { failures } = await runCampaign({ ...campaign, origin, exited });
        expect(failures.map(({ problem }) => problem)).toContain("the server ended with 139");
      },
    );
  });

  test("that sends a header twice or a chunk too long is no HTTP", async () => {
    for (const text of [
      "HTTP/1.1 200 OK\r\na: b\r\na: c\r\ncontent-length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
      "nonsense\r\n\r\n",
    ])
      await withServer(
        (write) => write(text),
        async (origin) => {
          const connection = new Connection(origin);
          const sending = { bytes: Buffer.from("x"), replies: [{}], deadlineMs: 60_000 };
          expect(await connection.exchange(sending)).toMatchObject({ end: "malformed" });
          connection.close();
        },
      );
  });
});

test("a log that holds a prompt, a made-up key or the real one is told", () => {
  expect(leaksIn('{"level":"info"}', "sk-svc-1")).toEqual([]);
  expect(leaksIn(`x ${promptMark} ${keyMark} sk-svc-1`, "sk-svc-1")).toEqual([
    promptMark,
    keyMark,
    "sk-svc-1",
  ]);
});

describe("schemathesis", () => {
  const report = {
    schemathesis_version: "4",
    complete: true,
    operations: { total: 2, tested: 2 },
    test_cases: { generated: 10_000, errored: 0 },
    failures: [],
    errors: [],
    valid_rates: { "GET /models": { fuzzing: { accepted: 1 }, coverage: { accepted: 0 } } },
  };
  const problemsWith = (more: object, code = 0) =>
    problemsOf({ report: { ...report, ...more }, code, wantedCases: 10_000 });

  test("has found nothing only when all was run, enough of it, and some of it served", () => {
    expect(problemsWith({})).toEqual([]);
    expect(problemsWith({}, 1)).toEqual(["schemathesis ended with 1"]);
    expect(problemsOf({ report: undefined, code: 0, wantedCases: 1 })).toHaveLength(1);
    for (const more of [
      { complete: false },
      { operations: { total: 2, tested: 1 } },
      { test_cases: { generated: 9_999, errored: 0 } },
      { test_cases: { generated: 10_000, errored: 1 } },
      { errors: [{}] },
      { valid_rates: { "GET /models": { fuzzing: { accepted: 0 } } } },
    ])
      expect(problemsWith(more)).toHaveLength(1);
  });

  test("tells what it found, and where", () => {
    const failures = [{ title: "Server error", operations: ["GET /models", "POST /x"] }];
    expect(problemsWith({ failures }, 1)).toEqual(["Server error: GET /models, POST /x"]);
  });

  test("gets the document with the models that are there, and no other change of a request", async () => {
    const path = new URL("../../docs/openapi.json", import.meta.url).pathname;
    const document = await Bun.file(path).json();
    const copy = forThisGateway(document) as typeof document;
    const speech = copy.components.schemas.SpeechRequest;
    expect(speech.properties.model.enum).toEqual(["svc-2.5-flash-tts", "svc-2.5-pro-tts"]);
    delete speech.properties.model.enum;
    expect(speech).toEqual(document.components.schemas.SpeechRequest);
    expect(() => forThisGateway({ components: { schemas: {} }, paths: {} })).toThrow(
      "the document has no ChatCompletionRequest",
    );
  });
});

test("the command line is read strictly", () => {
  expect(fromCommandLine([])).toMatchObject({ cases: 100_000, schemathesisCases: 10_000, seed: 1 });
  expect(fromCommandLine(["--seed", "7", "--case", "12"])).toMatchObject({
    seed: 7,
    caseNumber: 12,
    only: "ours",
  });
  expect(fromCommandLine(["--help"])).toBeUndefined();
  for (const words of [
    ["--only", "theirs"],
    ["--cases", "many"],
    ["--cases", "-1"],
    ["--nonsense"],
  ])
    expect(() => fromCommandLine(words)).toThrow();
});
