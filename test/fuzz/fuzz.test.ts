/** The fuzzers' own tests: a run of 400 cases, and proof that each way to fail is seen. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { leaksIn, runCampaign, samenessIn } from "./campaign.ts";
import { bodyKinds, validBody } from "./cases/body-kinds.ts";
import { bounds } from "./cases/bounds.ts";
import { makeCase } from "./cases/cases.ts";
import { Dice } from "./cases/dice.ts";
import type { Expectation, FuzzCase, ReplyKind } from "./cases/fuzz-case.ts";
import { parsed, writeJson } from "./cases/json-text.ts";
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

  test.each(bodyKinds)("of %s start from bodies that the contract accepts", (kind) => {
    const refused = Array.from({ length: 50 }, (_, at) =>
      validBody(new Dice(seed, at), kind),
    ).filter((body) => isRefused(kind, parsed(writeJson(body))));
    expect(refused).toEqual([]);
  });

  test("know bounds of every kind, those in one form of a field included", () => {
    expect(bodyKinds.filter((kind) => Object.keys(bounds[kind]).length === 0)).toEqual([]);
    expect(bounds.chat["temperature"]?.map(([, at]) => at)).toEqual([0, 2]);
    expect(bounds.chat["stop"]?.map(([of, at]) => [of, at])).toEqual([
      ["list", 1],
      ["list", 16],
    ]);
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

const withError = (error: unknown, headers: Record<string, string> = {}) =>
  reply(400, { error }, { ...json, ...headers });
const { code: _code, ...withoutCode } = goodError;
const { param: _param, ...withoutParam } = goodError;
const html = "<html><body>Bad Request</body></html>";
const events = { "content-type": "text/event-stream; charset=utf-8" };
const refused: Expectation = { reply: "chat", statuses: [400, 500, 502], fields: ["m", "n"] };
const repeatsSecret = "an error that repeats a secret";

describe("a reply", () => {
  test("that is right passes", () => {
    expect(checkReply(withError(goodError), refused)).toBeUndefined();
    expect(checkReply(withError({ ...goodError, param: "n.x" }), refused)).toBeUndefined();
  });

  test.each<readonly [what: string, reply: WireReply, problem?: string]>([
    ["is a 500 of the right shape", reply(500, { error: goodError }), "a 500"],
    ["is a 502 of the right shape", reply(502, { error: goodError }), "a 502"],
    ["is HTML", reply(400, html, { "content-type": "text/html" }), "an error that is not JSON"],
    ["is HTML that calls itself JSON", reply(400, html), "error reply"],
    ["has no code", withError(withoutCode)],
    ["has no param", withError(withoutParam)],
    ["has a code that is no text", withError({ ...goodError, code: null })],
    ["has a message that is no text", withError({ ...goodError, message: 1 })],
    ["has a fifth key", withError({ ...goodError, stack: "at line 1" })],
    ["has a text for an error", withError("text")],
    ["has more beside the error", reply(400, { error: goodError, more: 1 })],
    ["blames another field", withError({ ...goodError, param: "nn" }), 'it blames "nn", not "m"'],
    ["has no request id", withError(goodError, { "x-request-id": "" }), "no x-request-id"],
    ["has a header that the request made up", withError(goodError, { "x-injected": "yes" })],
    ["repeats a prompt", withError({ ...goodError, message: promptMark }), repeatsSecret],
    ["repeats a key", withError({ ...goodError, message: keyMark }), repeatsSecret],
  ])("that %s fails", (_what, wrong, problem = "") => {
    expect(checkReply(wrong, refused)).toStartWith(problem);
  });

  test.each<readonly [kind: ReplyKind, what: string, reply: WireReply, problem?: string]>([
    ["chat", "an error", withError(goodError), "400 where 200 is right"],
    ["chat", "no chat", reply(200, { id: "x" }), "chat reply"],
    ["chat", "a stream without an event", reply(200, "data: [DONE]\n", events)],
    ["chat", "other events", reply(200, "data: {}\n\ndata: [DONE]\n\n", events), "chunk reply"],
    ["chat", "a stream with an error", reply(200, 'data: {"error":{}}\n\n', events)],
    ["completions", "other events", reply(200, "data: {}\n\ndata: [DONE]\n\n", events)],
    ["completions", "an open stream", reply(200, "data: {}\n\n", events), "the stream has no end"],
    ["responses", "no response", reply(200, { id: "x" }), "response reply"],
    ["messages", "a stream without an event", reply(200, "\n\n", events)],
    ["speech", "no sound", reply(200, "text", { "content-type": "audio/wav" }), "no WAV file"],
  ])("of 200 for %s that is %s fails", (kind, _what, wrong, problem = "") => {
    expect(checkReply(wrong, { reply: kind, statuses: [200] })).toStartWith(problem);
  });
});

describe("a case", () => {
  const ours = withError(goodError);
  const bare: WireReply = { ...reply(400, ""), headers: new Map([["connection", "close"]]) };
  const ended = (replies: readonly WireReply[], leftBytes = 0): Outcome => ({
    replies,
    end: replies.length > 0 ? "open" : "closed",
    leftBytes,
    tookMs: 1,
  });
  const verdictOf = (form: FuzzCase["form"], outcome: Outcome) =>
    judge(
      {
        group: "test",
        name: "test",
        bytes: Buffer.alloc(0),
        form,
        expects: [{ reply: "models", statuses: [400] }],
      },
      outcome,
    );

  test("of good HTTP must be answered by our code, once, and with nothing behind it", () => {
    expect(verdictOf("good", ended([ours])).problem).toBeUndefined();
    expect(verdictOf("good", ended([bare])).problem).toContain("no x-request-id");
    expect(verdictOf("good", ended([])).problem).toContain("0 of 1 replies");
    expect(verdictOf("good", ended([ours], 3)).problem).toBe("3 bytes behind the reply");
  });

  test("of broken HTTP may only be refused by the parser, which counts apart", () => {
    expect(verdictOf("broken", ended([bare]))).toMatchObject({ isBelowUs: true });
    const parserSays = (form: FuzzCase["form"], status: number) =>
      verdictOf(form, ended([{ ...bare, status }])).problem;
    expect(verdictOf("broken", ended([])).problem).toBeUndefined();
    expect(parserSays("broken", 400)).toBeUndefined();
    for (const status of [200, 404, 500, 505]) expect(parserSays("broken", status)).toBeString();
    expect(parserSays("version", 505)).toBeUndefined();
    expect(parserSays("version", 500)).toBeString();
  });
});

type Write = (text: string) => void;

/** A server that does with each connection what a test wants. */
async function withServer(
  onData: (write: Write) => void,
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
  const silent = () => {};

  test("that never answers is reported as hanging, with the number of the case", async () => {
    await withServer(silent, async (origin) => {
      const { failures } = await runCampaign({ ...campaign, origin });
      expect(failures[0]?.problem).toMatch(/^no reply after \d+ ms$/);
      expect(failures[0]?.caseNumber).toBeLessThan(50);
      // It does not go on forever either.
      expect(failures.length).toBeLessThan(30);
    });
  });

  test("that answers everything with a 500 is reported case by case", async () => {
    const failing = (write: Write) => write("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n");
    await withServer(failing, async (origin) => {
      const { failures } = await runCampaign({ ...campaign, origin });
      expect(failures.length).toBeGreaterThanOrEqual(20);
      expect(failures.filter(({ problem }) => problem.startsWith("a 500"))).not.toEqual([]);
    });
  });

  test("that ends while cases are under way is reported", async () => {
    await withServer(silent, async (origin) => {
      const exited = Promise.resolve(139);
      const { failures } = await runCampaign({ ...campaign, origin, exited });
      expect(failures.map(({ problem }) => problem)).toContain("the server ended with 139");
    });
  });

  test.each([
    ["a header twice", "HTTP/1.1 200 OK\r\na: b\r\na: c\r\ncontent-length: 0\r\n\r\n"],
    [
      "a chunk too long",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    ],
    ["nonsense", "nonsense\r\n\r\n"],
  ])("that sends %s speaks no HTTP", async (_what, text) => {
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
    const failures = [{ title: "Server error", operations: ["GET /models", "POST /x"] }];
    expect(problemsWith({})).toEqual([]);
    expect(problemsWith({}, 1)).toEqual(["schemathesis ended with 1"]);
    expect(problemsWith({ failures }, 1)).toEqual(["Server error: GET /models, POST /x"]);
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

test.each<readonly [words: readonly string[], options: object]>([
  [[], { cases: 100_000, schemathesisCases: 10_000, seed: 1, boundMs: 50, repeats: 3 }],
  [["--seed", "7", "--case", "12"], { seed: 7, caseNumber: 12, only: "ours" }],
  [["--case", "chat-marks-32kb"], { only: "stalls", stallCase: "chat-marks-32kb" }],
  [["--only", "stalls", "--bound", "80"], { only: "stalls", stallCase: undefined, boundMs: 80 }],
])("the command line %j is read", (words, options) => {
  expect(fromCommandLine(words)).toMatchObject(options);
});

test("the command line is read strictly", () => {
  expect(fromCommandLine(["--help"])).toBeUndefined();
  for (const [option, value] of [
    ["--only", "theirs"],
    ["--cases", "many"],
    ["--cases", "-1"],
    ["--repeats", "0"],
    ["--nonsense", ""],
  ] as const)
    expect(() => fromCommandLine([option, value])).toThrow();
});
