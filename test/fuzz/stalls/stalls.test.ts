/** The stall campaign's own tests: the corpus is well formed, and a stall is seen. No figure of time. */

import { afterAll, describe, expect, test } from "bun:test";
import { corpus } from "./cases/corpus.ts";
import { sizeProblem } from "./cases/stall-case.ts";
import { Probe } from "./probe.ts";
import { sendRequest } from "./sender.ts";
import { findCases, problemsOf, type StallFigures } from "./stalls.ts";
import { stallTable } from "./table.ts";

describe("the corpus", () => {
  test("has names of its own, in one form, and says what each case attacks", () => {
    const names = corpus.map(({ name }) => name);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(corpus.filter(({ attacks }) => attacks === "")).toEqual([]);
  });

  test("attacks text, JSON, media, headers, bodies, the platform and replies of upstreams", () => {
    const kinds = new Set(corpus.map(({ name }) => name.split("-")[0]));
    const input = ["chat", "embeddings", "speech", "json", "image", "video", "audio"];
    const around = ["header", "path", "body", "idempotency", "platform", "upstream"];
    expect([...input, ...around].filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  test("may send only what fits the limits: 32 MiB to the gateway, 2 MiB to the platform", () => {
    const body = (sizeBytes: number) => ({ path: "/", body: new Uint8Array(sizeBytes) });
    expect(sizeProblem(body(32 * 2 ** 20))).toBeUndefined();
    expect(sizeProblem(body(32 * 2 ** 20 + 1))).toContain("body");
    expect(sizeProblem({ ...body(2 * 2 ** 20 + 1), to: "platform" })).toContain("body");
    expect(sizeProblem({ path: "/", headers: { a: "b".repeat(16_000) } })).toContain("head");
  });

  test("is searched by name, and names what is similar", () => {
    expect(findCases("chat-marks-32kb").map(({ name }) => name)).toEqual(["chat-marks-32kb"]);
    expect(() => findCases("marks-32")).toThrow("Similar: chat-marks-32kb");
  });
});

describe("the measuring thread", () => {
  const toys: Bun.Subprocess[] = [];
  afterAll(() => {
    for (const toy of toys) toy.kill();
  });

  test("sees a server that blocks its event loop, and none in one that does not", async () => {
    const toy = Bun.spawn([process.execPath, new URL("toy-server.ts", import.meta.url).pathname], {
      stdout: "pipe",
    });
    toys.push(toy);
    const port = await firstLine(toy.stdout);
    const origin = `http://127.0.0.1:${port}`;
    const probe = new Probe({ pid: toy.pid, origins: [origin, origin] });
    await probe.take();
    const ask = (path: string) =>
      sendRequest({
        origin,
        method: "GET",
        path,
        headers: {},
        body: undefined,
        delivery: "length",
        signal: AbortSignal.timeout(120_000),
      });
    expect(await ask("/blocks")).toBe("200");
    const [blocked, alsoBlocked] = await probe.take();
    expect(blocked?.stallMs).toBeGreaterThan(250);
    expect(alsoBlocked?.stallMs).toBeGreaterThan(250);
    expect(await ask("/waits")).toBe("200");
    const [waited] = await probe.take();
    expect(waited?.count).toBeGreaterThan(0);
    // What it is compared with is the stall above, not a clock.
    expect(waited?.stallMs).toBeLessThan(blocked?.stallMs ?? 0);
    await probe.stop();
  });
});

describe("the result", () => {
  const figures: StallFigures = {
    name: "some-case",
    attacks: "something",
    gatewayMs: 10,
    platformMs: 51,
    loopMs: 40,
    processorS: 0.5,
    peakBytes: 100 * 2 ** 20,
    statuses: { "200": 2, "429": 1 },
    runs: 3,
  };

  test("names every case above the bound on either listener, and one that froze", () => {
    const frozen = { ...figures, name: "frozen", gatewayMs: undefined };
    expect(problemsOf([{ ...figures, platformMs: 50 }], 50)).toEqual([]);
    expect(problemsOf([figures, frozen], 50)).toEqual([
      "some-case: /healthz stalled for 51 ms, more than 50 ms (something)",
      "frozen: /healthz stalled for over 20000 ms, more than 50 ms (something)",
    ]);
  });

  test("is a table with a line for each case", () => {
    const idle = { medianMs: 0.2, longestMs: 3 };
    const lines = stallTable({ boundMs: 50, cases: [figures], idle, problems: [] });
    expect(lines.filter((line) => line.startsWith("| some-case"))).toEqual([
      "| some-case | 10         | 51          | 40          | 0.50  | 100      | 2 × 200, 429 | ✗   |",
    ]);
  });
});

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return new TextDecoder().decode(value).trim();
}
