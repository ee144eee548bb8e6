import { setPriority } from "node:os";
import { EngineError, type Model } from "./contract.ts";
import type { FromHost, HostKind, HostOptions, ToHost } from "./server/protocol.ts";

/**
 * A process that runs one model. It is spoken to by messages, works on what it is given, and ends
 * with the process that started it. Inference may block this process: nothing else lives in it.
 */
type AnyModel = Model<unknown, unknown, unknown>;

const load: {
  readonly [K in HostKind]: (options: HostOptions[K]) => Promise<AnyModel>;
} = {
  chat: async (options) => (await import("./chat/chat.ts")).loadChat(options),
  text: async (options) => (await import("./text/text.ts")).loadText(options),
  image: async (options) => (await import("./image/image.ts")).loadImage(options),
  transcription: async (options) =>
    (await import("./transcription/transcription.ts")).loadTranscription(options),
  speech: async (options) => (await import("./speech/speech.ts")).loadSpeech(options),
};

const send = (message: FromHost) => void process.send?.(message);
const running = new Map<number, AbortController>();
let model: Promise<AnyModel> | undefined;

// The gateway and the engine's own server come first.
setPriority(5);
process.on("disconnect", () => process.exit(0));
// A terminal's ctrl-c reaches every process of the group: the engine decides when this one ends.
process.on("SIGINT", () => {});
process.on("message", (message: ToHost) => {
  switch (message.type) {
    case "load":
      model = loadModel(message);
      return;
    case "run":
      void run(message.id, message.job);
      return;
    case "cancel":
      running.get(message.id)?.abort(new Error("the caller disconnected"));
      return;
    default:
      message satisfies never;
  }
});

function loadModel<K extends HostKind>(message: {
  readonly kind: K;
  readonly options: HostOptions[K];
}): Promise<AnyModel> {
  const loading = load[message.kind](message.options);
  loading.then(
    () => send({ type: "loaded" }),
    (error: unknown) => send({ type: "unloadable", problem: textOf(error) }),
  );
  return loading;
}

async function run(id: number, job: unknown): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const ready = await model;
    if (ready === undefined) throw new Error("no model was loaded");
    const result = await ready.run(job, {
      signal: controller.signal,
      emit: (piece) => send({ type: "piece", id, piece }),
    });
    send({ type: "done", id, result });
  } catch (error) {
    send({ type: "failed", id, error: toFailure(error) });
  } finally {
    running.delete(id);
  }
}

function toFailure(error: unknown) {
  if (error instanceof EngineError) {
    const { status, code, message, param } = error;
    return { status, code, message, ...(param === undefined ? {} : { param }) };
  }
  return { status: 500, code: "model_failed", message: textOf(error) };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
