import { join } from "node:path";
import { weightsDir } from "../../engine/weights/test-weights.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";
import { type LlamaServer, startLlamaServer } from "./llama-server.ts";

/** The real gateway, with the embedded engine, in front of real llama.cpp servers. */
export interface Stage {
  readonly engine: EngineHome;
  readonly embedder: LlamaServer;
  /** The one for chat that runs now. */
  llama(): LlamaServer;
  /** Starts it anew on the port that it had. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const manifest = (chatUrl: string, embedUrl: string) => `
engine: {}
providers:
  llama: { kind: openai, vendor: llamacpp, base_url: "${chatUrl}", allow_private: true }
  embedder: { kind: openai, vendor: llamacpp, base_url: "${embedUrl}", allow_private: true }
models:
  llama-chat: { endpoint: chat, max_output_tokens: 900, price: { input: 0, output: 0 }, routes: [ { provider: llama, model: tiny } ] }
  llama-or-engine: { endpoint: chat, max_output_tokens: 64, price: { input: 0, output: 0 }, routes: [ { provider: llama, model: tiny }, { provider: engine, model: chat, priority: 2 } ] }
  llama-embed: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [ { provider: embedder, model: tiny } ] }
`;

export async function openStage(python: string): Promise<Stage> {
  const model = join(await weightsDir("chat"), "model.gguf");
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const one of closers.splice(0).toReversed()) await one();
  };
  try {
    let llama = await startLlamaServer({ python, purpose: "chat", model });
    closers.push(() => llama.kill());
    const embedder = await startLlamaServer({ python, purpose: "embed", model });
    closers.push(() => embedder.kill());
    const engine = await startEngineHome({
      sets: ["chat"],
      config: manifest(llama.baseUrl, embedder.baseUrl),
    });
    closers.push(() => engine.stop());
    return {
      engine,
      embedder,
      llama: () => llama,
      async restart() {
        llama = await startLlamaServer({ python, purpose: "chat", model, port: llama.port });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
