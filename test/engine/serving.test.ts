/** The embedded models as a second upstream, with real answers, behind a vendor that fails. */

import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { failures } from "../fake/recordings.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { parseStream, textOf } from "../replies/event-stream.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";
import { callsTo } from "../setup/serving-home.ts";

setDefaultTimeout(300_000);

/** A busy machine may take many seconds for twelve tokens, and a whole reply is one first byte. */
const patientS = 120;

let vendor: FakeUpstream;
let engine: EngineHome;

beforeAll(async () => {
  vendor = await startFakeUpstream();
  engine = await startEngineHome({
    sets: ["chat", "text"],
    environment: { VENDOR_KEY: "vendor-secret" },
    config: `
providers:
  vendor: { kind: openai, base_url: "${vendor.baseUrl}", api_key: "\${VENDOR_KEY}", allow_private: true }
models:
  answers: { endpoint: chat, max_output_tokens: 64, price: { input: 1, output: 2 }, timeouts: { first_byte: ${patientS} }, routes: [{ provider: vendor, model: big }, { provider: engine, model: chat, priority: 2 }] }
  vectors: { endpoint: embeddings, input: text, price: { input: 1 }, routes: [{ provider: vendor, model: small }, { provider: engine, model: text, priority: 2 }] }
`,
  });
  // Loading takes longer than a vendor is given; what is asked below is there.
  await until(async () => (await answer("warm up")).status === 200);
  await until(async () => (await embed()).status === 200);
}, 900_000);
afterAll(async () => {
  await engine.stop();
  await vendor.stop();
});
beforeEach(async () => {
  vendor.reset();
  await engine.home.svc(["provider", "reset", "vendor"]);
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(200);
}

const answer = (content: string, { stream = false } = {}) =>
  engine.call("/chat/completions", {
    model: "answers",
    messages: [{ role: "user", content }],
    max_tokens: 12,
    temperature: 0,
    stream,
  });
const embed = () => engine.call("/embeddings", { model: "vectors", input: "A cat sleeps." });
const question = "What is the capital of France?";

interface Shown {
  readonly attempts: string;
  readonly provider: string;
  readonly outcome: string;
}
const lastReceipt = async () => {
  const receipts = await engine.home.json<readonly Shown[]>(["receipt", "list", "--limit", "1"]);
  return receipts[0];
};

describe("when the vendor resets the connection, the embedded model answers", () => {
  test("a whole chat", async () => {
    vendor.replyWith([{ reset: true }]);
    const response = await answer(question);
    expect(response.status).toBe(200);
    const { choices, usage } = (await response.json()) as {
      readonly choices: readonly { readonly message: { readonly content: string } }[];
      readonly usage: { readonly prompt_tokens: number };
    };
    expect(choices[0]?.message.content).toContain("Paris");
    expect(usage.prompt_tokens).toBe(23);
    expect(callsTo(vendor).length).toBe(1);
    const { attempts = "", provider, outcome } = (await lastReceipt()) ?? {};
    expect(attempts).toMatch(/^vendor\/big upstream_error \(.+\), engine\/chat$/);
    expect({ provider, outcome }).toEqual({ provider: "engine", outcome: "ok" });
  });

  test("a streamed chat", async () => {
    vendor.replyWith([{ reset: true }]);
    const stream = parseStream(await (await answer(question, { stream: true })).text());
    expect(textOf(stream)).toContain("Paris");
    expect([stream.isDone, stream.error]).toEqual([true, undefined]);
    expect(stream.chunks.length).toBeGreaterThan(4);
    expect(callsTo(vendor).length).toBe(1);
  });
});

test("embeddings come from the embedded model when the vendor fails", async () => {
  vendor.replyWith(failures.internal());
  const response = await embed();
  const { data } = (await response.json()) as {
    readonly data: readonly { readonly embedding: readonly number[] }[];
  };
  const [vector = []] = data.map(({ embedding }) => embedding);
  expect(vector.length).toBe(3072);
  const length = Math.hypot(...vector);
  expect(length).toBeCloseTo(1, 3);
});
