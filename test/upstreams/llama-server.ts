import { join } from "node:path";

const program = join(import.meta.dir, "llama_server.py");
const startWithinMs = 120_000;

/** A llama.cpp server of our own, in a process that we can end. */
export interface LlamaServer {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly port: number;
  /** As it answers a plain GET. */
  get(path: string): Promise<Response>;
  /** How many of its slots are at work. */
  working(): Promise<number>;
  /** All tokens that it has made since it started. */
  tokensMade(): Promise<number>;
  /** SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
}

export async function startLlamaServer(options: {
  readonly python: string;
  readonly purpose: "chat" | "embed";
  readonly model: string;
  readonly port?: number;
}): Promise<LlamaServer> {
  const { python, purpose, model, port } = options;
  const child = Bun.spawn(
    [python, program, purpose, model, ...(port === undefined ? [] : [String(port)])],
    { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
  );
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const errors = new Response(child.stderr).text();
  const timer = setTimeout(() => child.kill("SIGKILL"), startWithinMs);
  const origin = await addressOf(child.stdout);
  clearTimeout(timer);
  if (origin === undefined) {
    await kill();
    const last = (await errors).trim().split("\n").slice(-10).join("\n");
    throw new Error(`the llama.cpp server did not start:\n${last}`);
  }
  const get = (path: string) => fetch(`${origin}${path}`, { signal: AbortSignal.timeout(10_000) });
  return {
    baseUrl: `${origin}/v1`,
    port: Number(new URL(origin).port),
    get,
    async working() {
      const slots = (await (await get("/slots")).json()) as readonly { is_processing: boolean }[];
      return slots.filter((slot) => slot.is_processing).length;
    },
    async tokensMade() {
      const text = await (await get("/metrics")).text();
      return Number(/^llamacpp:tokens_predicted_total (\S+)/m.exec(text)?.[1]);
    },
    kill,
  };
}

async function addressOf(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of output) {
    text += decoder.decode(bytes, { stream: true });
    const found = /^listening (\S+)\n/m.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}
