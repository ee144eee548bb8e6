import type { Provider, ProviderCall } from "../providers/contract.ts";
import { createOpenAiProvider } from "../providers/openai/provider.ts";

export interface EngineProviderOptions {
  readonly socket: string;
  /** Resolves when the engine can take a call for this model; throws `model_loading` until then. */
  readonly whenReady: (model: string, signal: AbortSignal) => Promise<void>;
}

/** The engine is an upstream like any other, spoken to over its socket, once it is there. */
export function createEngineProvider({ socket, whenReady }: EngineProviderOptions): Provider {
  const { chat, streamChat, embed, speak } = createOpenAiProvider({
    name: "engine",
    baseUrl: "http://localhost/v1",
    apiKey: undefined,
    socket,
    isOwn: true,
  });
  const ready =
    <T, R>(call: ((options: ProviderCall<T>) => Promise<R>) | undefined) =>
    async (options: ProviderCall<T>): Promise<R> => {
      if (call === undefined) throw new TypeError("the engine cannot do this");
      await whenReady(options.target.model, options.signal);
      return call(options);
    };
  return {
    name: "engine",
    chat: ready(chat),
    streamChat: ready(streamChat),
    embed: ready(embed),
    speak: ready(speak),
  };
}
