import { completionsWire } from "../dialects/wires/openai-completions.ts";
import { openAiResponses } from "../dialects/wires/openai-responses.ts";
import type { Wire } from "../dialects/wires/wire.ts";
import {
  chatJson,
  chatStreams,
  embeddingsReply,
  jsonReply,
  type Recording,
  speechReplies,
} from "../fake/recordings.ts";
import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../fake/upstream.ts";
import { anthropicDialect } from "../providers/dialects/anthropic.ts";
import { framed } from "../providers/stage.ts";
import { type ChildServer, createHome } from "../setup/child.ts";
import { standardManifest } from "../setup/harness.ts";
import { doomedInner, storedInner } from "./cases/valid-responses.ts";

/** The gateway as a process of its own, in front of an upstream that answers everything well. */
export interface FuzzTarget {
  readonly origin: string;
  readonly key: string;
  readonly exited: Promise<number>;
  /** All that the gateway has logged, at the level that tells most. */
  log(): string;
  residentBytes(): Promise<number>;
  /** What the gateway sent upstream that no upstream should get. */
  readonly upstreamProblems: readonly string[];
  /** Puts the ids of stored responses into the bytes of a request. */
  filled(bytes: Buffer): Buffer;
  /** Forgets the calls that the upstream has kept; nothing may be under way. */
  tidy(): void;
  stop(): Promise<void>;
}

export async function startFuzzTarget(): Promise<FuzzTarget> {
  const upstream = await startFakeUpstream();
  const home = createHome();
  const manifest = `${capped(standardManifest)}${uploadModel}${nativeModels}`.replace(
    "providers:\n",
    `providers:\n${natives}`,
  );
  home.writeConfig(manifest.replaceAll("UPSTREAM", upstream.baseUrl));
  const environment = {
    FAKE_KEY: "vendor-secret",
    SVC_LOG_LEVEL: "debug",
    // So that what a request says of its origin comes back in headers.
    SVC_CORS_ORIGINS: "*",
    SVC_STORE_RESPONSES: "on",
  };
  // Its memory is its own.
  const server: ChildServer = await home.serve(environment, { isProcess: true });
  // Whatever is valid can be paid for.
  await home.svc(["account", "credit", "default", "1000000", "--reference", "fuzz"]);
  const upstreamProblems: string[] = [];
  const answer = (request: RecordedRequest) => answerWell(request, upstreamProblems);
  upstream.replyWith(answer);
  const places = new Map([
    [storedInner, await storedId(server)],
    [doomedInner, await storedId(server)],
  ]);
  return {
    origin: server.origin,
    key: server.key ?? "",
    exited: server.exited,
    log: () => `${server.stderr()}${server.stdout().replaceAll(server.key ?? "", "")}`,
    residentBytes: () => residentBytes(server.pid),
    upstreamProblems,
    filled: (bytes) => withIds(bytes, places),
    tidy: () => forget(upstream, answer),
    async stop() {
      await home.remove();
      await upstream.stop();
    },
  };
}

/** Answers without end are answers that nobody can pay for: every model with a price has a cap. */
const capped = (manifest: string) =>
  manifest.replace(
    "vendor/with-slash: { endpoint: chat,",
    "vendor/with-slash: { endpoint: chat, max_output_tokens: 4096,",
  );

const uploadModel = `  whisper: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: upstream-whisper }] }
`;

/** Upstreams that speak a dialect themselves. */
const natives = `  anthropic-native: { kind: anthropic, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  openai-native: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
`;
const terms = 'endpoint: chat, max_output_tokens: 8192, price: { input: "0.30", output: "2.50" }';
const nativeModels = `  native-messages: { ${terms}, routes: [{ provider: anthropic-native, model: upstream-messages }] }
  native-responses: { ${terms}, routes: [{ provider: openai-native, model: upstream-responses }] }
`;

/** A response that is kept: what its id has behind the prefix. */
async function storedId({ origin, key = "" }: ChildServer): Promise<string> {
  const response = await fetch(`${origin}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "svc-3-flash", input: "Hello" }),
  });
  const { id } = (await response.json()) as { readonly id?: string };
  const inner = /^resp_([0-9a-f]{32})$/.exec(id ?? "")?.[1];
  if (inner === undefined) throw new Error(`${response.status}: nothing was stored`);
  return inner;
}

function withIds(bytes: Buffer, places: ReadonlyMap<string, string>): Buffer {
  let filled = bytes;
  for (const [place, inner] of places)
    if (filled.includes(place))
      filled = Buffer.from(filled.toString("latin1").replaceAll(place, inner), "latin1");
  return filled;
}

function forget(upstream: FakeUpstream, answer: (request: RecordedRequest) => Recording): void {
  upstream.reset();
  upstream.replyWith(answer);
}

const wholeChat = chatJson();
const streamedChat = chatStreams.openai({ framing: "length" });
const sound = speechReplies.pcmWithLength({ seconds: 0.02 });
const soundWithoutLength = speechReplies.pcmChunked({ seconds: 0.02 });
const completion = completionsWire("");
const spoken = {
  pieces: [{ text: "Hello" }],
  finish: "stop",
  usage: { input: 9, output: 1 },
} as const;
const transcript = jsonReply({
  body: { text: "hello", language: "en", duration: 1, segments: [] },
});
const vectorReplies = new Map<string, Recording>();

/** The good reply of a vendor to this request. */
function answerWell(request: RecordedRequest, problems: string[]): Recording {
  if (request.path.endsWith("/audio/transcriptions")) return transcript;
  const body = read(request, problems);
  if (!String(body["model"]).startsWith("upstream-"))
    problems.push(`the model ${String(body["model"]).slice(0, 50)} went upstream`);
  if (request.path.endsWith("/audio/speech"))
    return request.body.length % 2 === 0 ? sound : soundWithoutLength;
  if (request.path.endsWith("/embeddings")) return vectorsFor(body);
  const isStreamed = body["stream"] === true;
  if (request.path.endsWith("/v1/messages")) return said(anthropicDialect, isStreamed);
  if (request.path.endsWith("/v1/responses")) return said(openAiResponses, isStreamed);
  if (request.path.endsWith("/v1/completions"))
    return framed(isStreamed ? completion.streamed(spoken) : completion.whole(spoken));
  return isStreamed ? streamedChat : wholeChat;
}

const said = (wire: Pick<Wire, "whole" | "streamed">, isStreamed: boolean) =>
  framed(isStreamed ? wire.streamed(spoken) : wire.whole(spoken));

function read(request: RecordedRequest, problems: string[]): Readonly<Record<string, unknown>> {
  try {
    return request.json as Readonly<Record<string, unknown>>;
  } catch {
    problems.push(`what went to ${request.path} is not JSON`);
    return {};
  }
}

/** One vector an input, in the form and of the length that were asked for. */
function vectorsFor(body: Readonly<Record<string, unknown>>): Recording {
  const { input, encoding_format: format, dimensions = 4 } = body;
  const isList = Array.isArray(input) && typeof input[0] !== "number";
  const count = isList ? input.length : 1;
  const encoding = format === "base64" ? "base64" : "float";
  const wanted = `${count} ${encoding} ${String(dimensions)}`;
  const known = vectorReplies.get(wanted);
  if (known !== undefined) return known;
  const vector = Array<number>(Number(dimensions)).fill(0.5);
  const reply = embeddingsReply({
    vectors: Array.from({ length: count }, () => vector),
    encoding,
  });
  vectorReplies.set(wanted, reply);
  return reply;
}

async function residentBytes(pid: number): Promise<number> {
  const child = Bun.spawn(["ps", "-o", "rss=", "-p", String(pid)]);
  return Number(await new Response(child.stdout).text()) * 1024;
}
