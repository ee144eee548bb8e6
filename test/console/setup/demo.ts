import { jsonReply } from "../../fake/http/reply.ts";
import { chatStream, openaiEvents, speechReplies } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { joinMember, joinOperator, type Visitor } from "../../setup/platform-home.ts";

const dayMs = 86_400_000;

/** A platform that has been in use for a while. */
export interface Demo {
  readonly gateway: TestGateway;
  readonly operator: Visitor;
  readonly owner: Visitor;
  readonly viewer: Visitor;
  readonly account: string;
  /** A request that was served, and one that failed. */
  readonly served: string;
  readonly failed: string;
}

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  second: { kind: openai, base_url: "UPSTREAM", api_key: "\${SECOND_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, max_output_tokens: 8192, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: fake, model: upstream-chat, cost: { input: "0.10", output: "1.20" } }, { provider: second, model: other-chat, priority: 2, cost: { input: "0.15", output: "1.50" } }] }
  svc-3-pro: { endpoint: chat, max_output_tokens: 16384, price: { input: "1.25", output: "10" }, routes: [{ provider: fake, model: upstream-pro, cost: { input: 1, output: 8 } }] }
  svc-2-flash: { endpoint: chat, price: { input: "0.10", output: "0.40" }, routes: [{ provider: fake, model: upstream-old-chat }] }
  svc-embedding-2: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: fake, model: upstream-embed, cost: { input: "0.01" } }] }
  multimodal-embedding-1: { endpoint: embeddings, input: media, price: { image: "0.0001", video_second: "0.0005" }, routes: [{ provider: fake, model: upstream-media }] }
  svc-2.5-flash-tts: { endpoint: speech, price: { input: "0.50", audio_output: 10 }, routes: [{ provider: fake, model: upstream-tts, voices: same }] }
`;

/** Says how much was used, so that what is charged looks like real work, and takes its time. */
const vendorOf = (clock: DemoClock) => (request: RecordedRequest) => {
  const { path, body } = request;
  const asked = body.toString();
  clock.pass(240 + ((asked.length * 7919 + clock.nowMs()) % 1_900));
  if (asked.includes("please fail"))
    return jsonReply({ status: 500, body: { error: { message: "down" } } });
  const words = 12 * asked.length;
  if (path.endsWith("/embeddings"))
    return jsonReply({
      body: {
        object: "list",
        model: "m",
        data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2, 0.3] }],
        usage: { prompt_tokens: 40 * words, total_tokens: 40 * words },
      },
    });
  if (asked.includes('"stream":true'))
    return chatStream({
      events: openaiEvents({
        pieces: answer.split(/(?<= )/),
        usage: { prompt_tokens: 3 * words, completion_tokens: words, total_tokens: 4 * words },
      }),
    });
  if (path.endsWith("/speech")) return speechReplies.pcmWithLength({ seconds: 2 });
  return jsonReply({
    body: {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        {
          index: 0,
          finish_reason: "stop",
          message: { role: "assistant", content: "Paris is the capital of France." },
        },
      ],
      usage: { prompt_tokens: 9 * words, completion_tokens: 4 * words, total_tokens: 13 * words },
    },
  });
};

const answer =
  "Paris. It lies on the Seine, in the north of the country, and has been its capital for most of a thousand years.";

const calls: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  [
    "/chat/completions",
    {
      model: "svc-3-flash",
      stream: true,
      messages: [{ role: "user", content: "What is the capital of France?" }],
    },
  ],
  [
    "/chat/completions",
    {
      model: "svc-3-flash",
      messages: [{ role: "user", content: "Write a short poem about rain." }],
    },
  ],
  [
    "/chat/completions",
    {
      model: "svc-3-pro",
      messages: [{ role: "user", content: "Explain how a purse differs from a ledger." }],
    },
  ],
  ["/embeddings", { model: "svc-embedding-2", input: "A cat sleeps in the sun." }],
  [
    "/chat/completions",
    { model: "svc-2-flash", messages: [{ role: "user", content: "Summarise this." }] },
  ],
  [
    "/audio/speech",
    { model: "svc-2.5-flash-tts", input: "Good morning to you all.", voice: "Kore" },
  ],
];

export interface DemoOptions {
  /** How many days of use lie behind it. */
  readonly days?: number;
  readonly callsADay?: number;
}

/** The clock of a past that is played quickly, and then the real one. */
class DemoClock {
  readonly endMs = Date.now();
  #pastMs: number | undefined;

  constructor(days: number) {
    this.#pastMs = this.endMs - days * dayMs;
  }

  nowMs = (): number => {
    if (this.#pastMs === undefined) return Date.now();
    // Something passes while a call goes on, or the first byte and the last would come at once.
    this.#pastMs += 40;
    return this.#pastMs;
  };

  get isNearlyThere(): boolean {
    return this.#pastMs === undefined || this.#pastMs > this.endMs - 3_600_000;
  }

  pass(ms: number): void {
    if (this.#pastMs !== undefined) this.#pastMs += Math.round(ms);
  }

  arrive(): void {
    this.#pastMs = undefined;
  }
}

export async function startDemo({ days = 3, callsADay = 6 }: DemoOptions = {}): Promise<Demo> {
  const clock = new DemoClock(days);
  const gateway = await startTestGateway({
    manifest,
    environment: { SECOND_KEY: "second-secret", SVC_BREAKERS: "on" },
    clock,
    creditUsd: "250",
  });
  gateway.upstream.replyWith(vendorOf(clock));
  const keys = await makeKeys(gateway);
  let served = "";
  const steps = Math.max(1, Math.round(days * callsADay));
  for (let at = 0; at < steps && !clock.isNearlyThere; at++) {
    // Now busier, now quieter.
    clock.pass(((days * dayMs) / steps) * (0.4 + 1.2 * Math.abs(Math.sin(at / 5))));
    const key = keys[(at * 7) % keys.length] ?? "";
    for (let more = (at * at) % 4; more >= 0; more--) await send(gateway, at + more, key);
    if (at % 23 === 11) await fail(gateway, key);
    if (at % calls.length === 0) served = await send(gateway, at, gateway.key);
  }
  clock.arrive();
  await gateway.server.operations.models.deprecate({
    id: "svc-2-flash",
    retires: new Date(clock.endMs + 77 * dayMs).toISOString().slice(0, 10),
    replacement: "svc-3-flash",
  });
  for (let at = 0; at < 12; at++) await send(gateway, at % 3, gateway.key);
  const failed = await fail(gateway, gateway.key);
  for (let at = 0; at < 3; at++)
    await sendBody(gateway, {
      path: "/chat/completions",
      body: { model: "no-such-model", messages: [{ role: "user", content: "Hello" }] },
      key: gateway.key,
    });
  const { account } = gateway;
  // Only now: sessions that began in that past would be over.
  const operator = await joinOperator(gateway);
  const join = (role: string, email: string) =>
    joinMember(gateway, operator, { account, role, email });
  const owner = await join("owner", "grace@example.com");
  const viewer = await join("viewer", "alan@example.com");
  return { gateway, operator, owner, viewer, account, served, failed };
}

/** Of two accounts; one is revoked. Gives their secrets. */
async function makeKeys({ server, account, key }: TestGateway): Promise<readonly string[]> {
  const { operations } = server;
  const production = await operations.keys.create({
    account,
    name: "production",
    rpm: "600",
    budget: "100/month",
  });
  const staging = await operations.keys.create({ account, name: "staging", budget: "5/day" });
  const other = await operations.accounts.create({ name: "acme research" });
  await operations.entries.add({
    account: other.id,
    kind: "credit",
    usd: "40",
    reference: "invoice 1017",
  });
  const notebook = await operations.keys.create({ account: other.id, name: "notebook" });
  const gone = await operations.keys.create({ account, name: "old laptop" });
  await operations.keys.revoke({ id: gone.id });
  return [production.key, staging.key, key, notebook.key];
}

/** The id of the request. */
async function send(gateway: TestGateway, at: number, key: string): Promise<string> {
  const [path, body] = calls[at % calls.length] ?? ["", {}];
  return sendBody(gateway, { path, body, key });
}

const fail = (gateway: TestGateway, key: string) =>
  sendBody(gateway, {
    path: "/chat/completions",
    body: { model: "svc-3-pro", messages: [{ role: "user", content: "please fail" }] },
    key,
  });

async function sendBody(
  gateway: TestGateway,
  { path, body, key }: { readonly path: string; readonly body: unknown; readonly key: string },
): Promise<string> {
  const reply = await gateway.call(path, body, { headers: { authorization: `Bearer ${key}` } });
  await reply.arrayBuffer();
  return reply.headers.get("x-request-id") ?? "";
}
