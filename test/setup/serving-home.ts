/** A gateway in front of two vendors, with retries and breakers as they are in use. */

import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../fake/upstream.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";

export interface ServingHome {
  readonly gateway: TestGateway;
  /** Asked first. */
  readonly first: FakeUpstream;
  readonly second: FakeUpstream;
  /** How the targets of a provider are, by the upstream's name of the model. */
  targets(provider: string): Promise<Readonly<Record<string, TargetState>>>;
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
    ...(options.writeLog === undefined ? {} : { writeLog: options.writeLog }),
  });
  const { operations } = gateway.server;
  return {
    gateway,
    first: gateway.upstream,
    second,
    async targets(provider) {
      const list = await operations.listProviders({});
      const targets = list.find(({ name }) => name === provider)?.targets ?? [];
      return Object.fromEntries(
        targets.map(({ model, state, reason, requests, failures }) => [
          model,
          { state, reason, requests, failures },
        ]),
      );
    },
    async reset() {
      for (const upstream of [gateway.upstream, second]) upstream.reset();
      for (const name of ["first", "second"]) await operations.resetProvider({ name });
    },
    async stop() {
      await gateway.stop();
      await second.stop();
    },
  };
}
