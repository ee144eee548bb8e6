import { ApiError } from "../base/errors.ts";
import type { Signal } from "../call/signal.ts";
import type { Provider, ProviderCall } from "../providers/contract.ts";
import { Dialer } from "../providers/kit/dial.ts";
import { createOpenAiProvider } from "../providers/openai/provider.ts";

const connectTries = 20;
const connectPauseMs = 50;
/** More would not be done within the time that a call may take, on most machines. */
const maxAudioS = 1_800;

const unconnectedCodes = ["FailedToOpenSocket", "ConnectionRefused", "ENOENT", "ECONNREFUSED"];
const lostCodes = ["ECONNRESET", "EPIPE", "ConnectionClosed"];

function networkCode(error: unknown): string {
  const cause = error instanceof ApiError ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

export interface EngineProviderOptions {
  readonly socket: string;
  /** Resolves when the engine can take a call for this model; throws `model_loading` until then. */
  readonly whenReady: (model: string, signal: Signal) => Promise<void>;
}

/** The engine is an upstream like any other, spoken to over its socket, once it is there. */
export function createEngineProvider({ socket, whenReady }: EngineProviderOptions): Provider {
  const own = createOpenAiProvider({
    name: "engine",
    // The socket takes the place of host and port.
    baseUrl: "http://127.0.0.1/v1",
    dialer: new Dialer({ provider: "engine", allowPrivate: true }),
    apiKey: undefined,
    socket,
    isOwn: true,
  });
  const ready =
    <T, R>(call: ((options: ProviderCall<T>) => Promise<R>) | undefined) =>
    async (options: ProviderCall<T>): Promise<R> => {
      if (call === undefined) throw new TypeError("the engine does not support this call");
      for (let tries = 1; ; tries++) {
        await whenReady(options.target.model, options.signal);
        try {
          return await call(options);
        } catch (error) {
          // It died a moment ago: the next one is on its way. A call that was on its way into the
          // old one is made again once, since it may be what killed it.
          const code = networkCode(error);
          const isLost = lostCodes.includes(code) && tries === 1;
          if (!isLost && !(unconnectedCodes.includes(code) && tries < connectTries)) throw error;
          await Bun.sleep(connectPauseMs);
        }
      }
    };
  return {
    name: "engine",
    chat: ready(own.chat),
    streamChat: ready(own.streamChat),
    embed: ready(own.embed),
    speak: ready(own.speak),
    transcribe: ready(own.transcribe),
    streamTranscript: ready(own.streamTranscript),
    // The times of sentences, not of words.
    transcriptDetail: () => "segments",
    maxAudioS,
  };
}
