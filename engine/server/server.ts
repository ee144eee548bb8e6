import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { EngineError } from "../contract.ts";
import type { SetName } from "../weights/sets.ts";
import { readyDir } from "../weights/state.ts";
import { type Body, errorReply, readBody } from "./body.ts";
import { answerChat } from "./chat.ts";
import { answerMedia, answerText } from "./embeddings.ts";
import { type EngineLog, ModelProcess, type ModelProcessView } from "./model-process.ts";
import type { LoadMessage } from "./protocol.ts";
import { answerSpeech } from "./speech.ts";
import { answerTranscription } from "./transcription.ts";

export interface OwnModel {
  readonly name: string;
  /** A GGUF file. */
  readonly file: string;
  readonly contextTokens: number;
  readonly parallel: number;
}

export interface EngineOptions {
  readonly socket: string;
  readonly cacheDir: string;
  /** The operator's own chat models; one named `chat` takes the embedded one's place. */
  readonly models: readonly OwnModel[];
  readonly idleMs: number;
  readonly maxWaiting: number;
  readonly log: EngineLog;
}

export interface Engine {
  readonly socket: string;
  close(): Promise<void>;
}

type Answer = (options: {
  readonly model: ModelProcess;
  readonly body: Body;
  readonly signal: AbortSignal;
}) => Promise<Response>;

interface Entry {
  readonly path: string;
  readonly answer: Answer;
  readonly open: () => ModelProcess;
}

/** The engine: the OpenAI wire format on a unix socket, each model in a process of its own. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { socket } = options;
  const processes = new Map<string, ModelProcess>();
  const entries = entriesOf(options, processes);
  const isAlive = await fetch("http://localhost/status", { unix: socket }).then(
    () => true,
    () => false,
  );
  if (isAlive)
    throw new Error(
      `An engine is already listening on ${socket}. Stop it first; svc serve starts one automatically.`,
    );
  // Left by a process that is dead.
  rmSync(socket, { force: true });
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  const server = Bun.serve({
    unix: socket,
    // Else the runtime prints its own report of a reply that breaks off, with our source in it.
    development: false,
    // Models think, before they begin and in between; the gateway has time limits of its own. The
    // types do not know it for a socket of this kind, but it is what keeps Bun from cutting a
    // reply after ten silent seconds (`server.timeout` does not).
    ...({ idleTimeout: 0 } as object),
    fetch(request) {
      return route(request, entries, processes).catch(errorReply);
    },
    error: errorReply,
  });
  chmodSync(socket, 0o600);
  return {
    socket,
    async close() {
      for (const model of processes.values()) model.close();
      await server.stop(true);
      rmSync(socket, { force: true });
    },
  };
}

async function route(
  request: Request,
  entries: ReadonlyMap<string, Entry>,
  processes: ReadonlyMap<string, ModelProcess>,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === "GET" && pathname === "/status") {
    const views: readonly ModelProcessView[] = [...processes.values()].map(({ view }) => view);
    return Response.json({ models: views });
  }
  const body = await readBody(request);
  const entry = entries.get(String(body["model"]));
  if (entry === undefined || entry.path !== pathname)
    throw new EngineError({
      status: 404,
      code: "not_found",
      message: `Model ${String(body["model"])} does not exist at ${pathname}.`,
    });
  return entry.answer({ model: entry.open(), body, signal: request.signal });
}

/** The models by the names that routes use. */
function entriesOf(
  options: EngineOptions,
  processes: Map<string, ModelProcess>,
): ReadonlyMap<string, Entry> {
  const { idleMs, maxWaiting, log } = options;
  const openOnce = (name: string, parallel: number, load: () => LoadMessage) => () => {
    const known = processes.get(name);
    if (known !== undefined) return known;
    const made = new ModelProcess({ name, load: load(), parallel, maxWaiting, idleMs, log });
    processes.set(name, made);
    return made;
  };
  const dir = (set: SetName): string => {
    const found = readyDir(options.cacheDir, set);
    if (found !== undefined) return found;
    throw notReady(`The weights of ${set} are not downloaded yet.`);
  };
  const own = options.models.map(({ name, file, contextTokens, parallel }): [string, Entry] => {
    const load = (): LoadMessage => {
      if (!existsSync(file)) throw notReady(`The file of ${name} does not exist.`);
      const usual = { usualTemperature: 0.8, isProneToLoops: false };
      const options = { file, contextTokens, parallel, ...usual };
      return { type: "load", kind: "chat", options };
    };
    return [name, { path: chatPath, answer: answerChat, open: openOnce(name, parallel, load) }];
  });
  const speech = openOnce("speech", 1, () => ({
    type: "load",
    kind: "speech",
    options: { dir: dir("speech") },
  }));
  const speak =
    (style: "flash" | "pro"): Answer =>
    (call) =>
      answerSpeech({ ...call, style });
  return new Map<string, Entry>([
    [
      "chat",
      {
        path: chatPath,
        answer: answerChat,
        open: openOnce("chat", 1, () => embeddedChat(dir("chat"))),
      },
    ],
    [
      "text",
      {
        path: embedPath,
        answer: answerText,
        open: openOnce("text", 1, () => ({
          type: "load",
          kind: "text",
          options: { dir: dir("text") },
        })),
      },
    ],
    [
      "image",
      {
        path: embedPath,
        answer: answerMedia,
        open: openOnce("image", 1, () => ({
          type: "load",
          kind: "image",
          options: { dir: dir("image") },
        })),
      },
    ],
    [
      "recognizer",
      {
        path: transcriptionPath,
        answer: answerTranscription,
        open: openOnce("recognizer", 1, () => ({
          type: "load",
          kind: "transcription",
          options: { dir: dir("recognizer") },
        })),
      },
    ],
    ["speech-flash", { path: speechPath, answer: speak("flash"), open: speech }],
    ["speech-pro", { path: speechPath, answer: speak("pro"), open: speech }],
    ...own,
  ]);
}

const chatPath = "/v1/chat/completions";
const embedPath = "/v1/embeddings";
const speechPath = "/v1/audio/speech";
const transcriptionPath = "/v1/audio/transcriptions";

function embeddedChat(dir: string): LoadMessage {
  return {
    type: "load",
    kind: "chat",
    // Its likeliest words are its best: a model this small, at two bits a weight, strays soon.
    options: {
      file: `${dir}/model.gguf`,
      contextTokens: 2048,
      parallel: 1,
      usualTemperature: 0,
      isProneToLoops: true,
    },
  };
}

function notReady(message: string): EngineError {
  return new EngineError({ status: 503, code: "model_loading", message });
}
