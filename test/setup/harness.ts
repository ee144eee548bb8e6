import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpenAI } from "openai";
import { type RunningServer, type ServerOptions, startServer } from "../../src/app/server.ts";
import type { Clock } from "../../src/base/clock.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import type { ApiVersion } from "../../src/gateway/versions.ts";
import { TokenCounter } from "../../src/ledger/tokens/token-counter.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { replyProblems } from "../replies/conformance.ts";
import { cheapPasswords } from "./cheap-passwords.ts";
import { copyEmptyDatabase } from "./empty-database.ts";
import { answeringInProcess } from "./platform-fetch.ts";

/** The real server in this process, on free ports, in front of the fake upstream. */
export interface TestGateway {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly platformUrl: string;
  /** A key that may call every model. */
  readonly key: string;
  readonly account: string;
  readonly upstream: FakeUpstream;
  readonly server: RunningServer;
  readonly dataDir: string;
  /** A fetch with the key and JSON, to a path below /v1. A reply that breaks its schema throws. */
  call(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** The real SDK, pointed at the gateway; it does not retry unless told to. */
  client(options?: { readonly apiKey?: string; readonly maxRetries?: number }): OpenAI;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** svc.yaml; UPSTREAM stands for the fake's base URL, ORIGIN for that without its path. */
  readonly manifest?: string;
  /** Puts the entries into the store, where commands can change them, and writes no file. */
  readonly isInStore?: boolean;
  /** The versions of the API; version 1 unless told. */
  readonly versions?: readonly ApiVersion[];
  readonly writeLog?: (line: string) => void;
  /** What the account has to begin with; enough for everything unless told. */
  readonly creditUsd?: string;
  readonly clock?: Clock;
  readonly telemetryLimits?: ServerOptions["telemetryLimits"];
  readonly open?: ServerOptions["open"];
  readonly lookup?: ServerOptions["lookup"];
  readonly liveEveryMs?: number;
  /** Loads a vocabulary for itself, as a server does. */
  readonly hasOwnCounter?: boolean;
}

export const standardManifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
models:
  svc-3-flash: { endpoint: chat, context_length: 1048576, max_output_tokens: 8192, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: fake, model: upstream-chat }] }
  svc-2-flash: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: fake, model: upstream-old-chat }] }
  vendor/with-slash: { endpoint: chat, max_image_tokens: 1600, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: upstream-slash }] }
  svc-embedding-2: { endpoint: embeddings, input: text, context_length: 8192, price: { input: "0.02" }, routes: [{ provider: fake, model: upstream-embed }] }
  multimodal-embedding-1: { endpoint: embeddings, input: media, price: { image: "0.0001", video_second: "0.0005" }, routes: [{ provider: fake, model: upstream-media }] }
  svc-2.5-flash-tts: { endpoint: speech, price: { input: "0.50", audio_output: 10 }, routes: [{ provider: fake, model: upstream-tts, voices: same }] }
  svc-2.5-pro-tts: { endpoint: speech, price: { input: 1, audio_output: 20 }, routes: [{ provider: fake, model: upstream-tts, voices: { Kore: a, Puck: b, Charon: c, Fenrir: d, Aoede: e } }] }
  unpriced: { endpoint: chat, routes: [{ provider: fake, model: x }] }
  unrouted: { endpoint: chat, price: { input: 1, output: 1 } }
`;

/** More than any test spends. */
const enoughUsd = "1000000";

const sharedCounter = new TokenCounter();

export async function startTestGateway({
  environment = {},
  manifest = standardManifest,
  isInStore = false,
  versions,
  writeLog,
  creditUsd = enoughUsd,
  clock,
  telemetryLimits,
  open,
  lookup,
  liveEveryMs,
  hasOwnCounter = false,
}: TestGatewayOptions = {}): Promise<TestGateway> {
  const upstream = await startFakeUpstream();
  const dataDir = mkdtempSync(join(tmpdir(), "svc-e2e-"));
  // Some open the store in a way of their own, or with a secret of their own.
  if (open === undefined && environment["SVC_SECRET"] === undefined)
    copyEmptyDatabase(join(dataDir, "svc.db"));
  const config = join(dataDir, "svc.yaml");
  const text = manifest
    .replaceAll("UPSTREAM", upstream.baseUrl)
    .replaceAll("ORIGIN", new URL(upstream.baseUrl).origin);
  writeFileSync(config, isInStore ? "" : text);
  const running = await startServer({
    version: "0.0.0-test",
    passwordCost: cheapPasswords,
    reportLimitMs: 120_000,
    ...(versions === undefined ? {} : { versions }),
    ...(writeLog === undefined ? {} : { writeLog }),
    ...(clock === undefined ? {} : { clock }),
    ...(telemetryLimits === undefined ? {} : { telemetryLimits }),
    ...(open === undefined ? {} : { open }),
    ...(liveEveryMs === undefined ? {} : { liveEveryMs }),
    lookup,
    sharedCounter: hasOwnCounter ? undefined : sharedCounter,
    configuration: loadConfiguration({
      // Each test tells what becomes of one attempt; those of retries and breakers switch them on.
      SVC_RETRIES: "0",
      SVC_BREAKERS: "off",
      SVC_PORT: "0",
      SVC_PLATFORM_PORT: "0",
      SVC_DATA_DIR: dataDir,
      SVC_CONFIG: config,
      SVC_LOG_LEVEL: "silent",
      SVC_ENGINE: "off",
      FAKE_KEY: "vendor-secret",
      ...environment,
    }),
  });
  const server = answeringInProcess(running);
  if (isInStore) await server.operations.manifest.apply({ text, dryRun: false });
  const started = { upstream, server, dataDir };
  return {
    ...(await withOwnAccount(started, { name: "test", creditUsd })),
    async stop() {
      await server.stop();
      await upstream.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

type StartedGateway = Pick<TestGateway, "upstream" | "server" | "dataDir">;

/** The same running gateway, called with the key of a new account. */
export async function withOwnAccount(
  { upstream, server, dataDir }: StartedGateway,
  {
    name = `test ${crypto.randomUUID()}`,
    creditUsd = enoughUsd,
  }: { readonly name?: string; readonly creditUsd?: string } = {},
): Promise<Omit<TestGateway, "stop">> {
  const { accounts, entries, keys } = server.operations;
  const { id: account } = await accounts.create({ name });
  if (creditUsd !== "0")
    await entries.add({ account, kind: "credit", usd: creditUsd, reference: "test" });
  const { key } = await keys.create({ account });
  const baseUrl = `${server.gatewayUrl}/v1`;
  return {
    baseUrl,
    origin: server.gatewayUrl,
    platformUrl: server.platformUrl,
    key,
    account,
    upstream,
    server,
    dataDir,
    async call(path, body, init = {}) {
      const response = await fetch(`${baseUrl}${path}`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          ...init.headers,
        },
      });
      const problems = await replyProblems(path, response);
      if (problems.length > 0) throw new Error(`reply of ${path}: ${problems.join("; ")}`);
      return response;
    },
    client: ({ apiKey = key, maxRetries = 0 } = {}) =>
      new OpenAI({ baseURL: baseUrl, apiKey, maxRetries }),
  };
}
