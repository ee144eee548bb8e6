/** A gateway in front of two vendors, with retries and breakers as they are in use. */

import { monotonicMs } from "../../src/base/clock.ts";
import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../fake/upstream.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";
import { waitUntil } from "./money-home.ts";

export interface ServingHome {
  readonly gateway: TestGateway;
  /** Asked first. */
  readonly first: FakeUpstream;
  readonly second: FakeUpstream;
  /** How the targets of a provider are, by the upstream's name of the model. */
  targets(provider: string): Promise<Readonly<Record<string, TargetState>>>;
  /** For the time limits of calls, this much time has passed. */
  pass(ms: number): void;
  /** Resolves when the time limits of all calls have been looked at. */
  ticks(): Promise<void>;
  /** Resolves when the gateway has read what was sent to it before: others were answered since. */
  read(): Promise<void>;
  /** Resolves when a target's pause is known. */
  untilResting(provider: string, model: string): Promise<void>;
  /** Forgets what was said, and what is held against anybody. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

interface TargetState {
  readonly state: string;
  readonly reason: string | null;
  readonly requests: number;
  readonly failures: number;
}

/** What the gateway asks on its own account, to see whether a target works. */
const isProbe = ({ body }: RecordedRequest) =>
  /Answer with the word OK\.|"input":(\["OK"\]|"OK\.")/.test(body);

/** The requests that were made for callers. */
export const callsTo = ({ requests }: FakeUpstream): readonly RecordedRequest[] =>
  requests.filter((request) => !isProbe(request));

/** The requests that the gateway made on its own account. */
export const probesTo = ({ requests }: FakeUpstream): readonly RecordedRequest[] =>
  requests.filter(isProbe);

const chatPrice = `price: { input: "0.30", cached_input: "0.03", output: "2.50" }`;
const both = (more = "") =>
  `[{ provider: second, model: m2, priority: 2${more} }, { provider: first, model: m1${more} }]`;

/** `chat`, `vectors` and `voice` are served by both; `only` by the first alone. */
const models = `
  chat: { endpoint: chat, ${chatPrice}, routes: ${both()} }
  only: { endpoint: chat, ${chatPrice}, routes: [{ provider: first, model: m1 }] }
  vectors: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: ${both()} }
  voice: { endpoint: speech, price: { input: "0.50", audio_output: 10 }, routes: ${both(", voices: same")} }
`;

export async function startServing(
  options: {
    readonly environment?: Readonly<Record<string, string>>;
    /** More models, each a line of svc.yaml. */
    readonly models?: string;
    /** More providers, each a line of svc.yaml. */
    readonly providers?: string;
    readonly writeLog?: (line: string) => void;
  } = {},
): Promise<ServingHome> {
  const second = await startFakeUpstream();
  let passedMs = 0;
  let looks: readonly (() => void)[] = [];
  const look = () =>
    new Promise<void>((resolve) => {
      looks = [...looks, resolve];
    });
  const gateway = await startTestGateway({
    manifest: `
providers:
  first: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
  second: { kind: openai, base_url: "${second.baseUrl}", api_key: "\${OTHER_KEY}", allow_private: true }
${options.providers ?? ""}
models:
${models}
${options.models ?? ""}
`,
    environment: {
      SVC_RETRIES: "2",
      SVC_BREAKERS: "on",
      OTHER_KEY: "second-secret",
      ...options.environment,
    },
    clock: {
      nowMs: () => Date.now(),
      elapsedMs() {
        for (const resolve of looks) resolve();
        looks = [];
        return monotonicMs() + passedMs;
      },
    },
    ...(options.writeLog === undefined ? {} : { writeLog: options.writeLog }),
  });
  const { operations } = gateway.server;
  const targets: ServingHome["targets"] = async (provider) => {
    const list = await operations.providers.list({});
    const found = list.find(({ name }) => name === provider)?.targets ?? [];
    return Object.fromEntries(
      found.map(({ model, state, reason, requests, failures }) => [
        model,
        { state, reason, requests, failures },
      ]),
    );
  };
  return {
    gateway,
    first: gateway.upstream,
    second,
    targets,
    untilResting: (provider, model) =>
      waitUntil("its pause", async () => (await targets(provider))[model]?.state === "resting"),
    pass(ms) {
      passedMs += ms;
    },
    async ticks() {
      // A call that is being answered looks at the clock as well.
      for (let count = 0; count < 4; count++) await look();
    },
    async read() {
      for (let turn = 0; turn < 3; turn++) await (await fetch(`${gateway.origin}/healthz`)).text();
    },
    async reset() {
      for (const upstream of [gateway.upstream, second]) upstream.reset();
      for (const name of ["first", "second"]) await operations.providers.reset({ name });
    },
    async stop() {
      await gateway.stop();
      await second.stop();
    },
  };
}
