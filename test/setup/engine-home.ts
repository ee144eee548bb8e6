import { OpenAI } from "openai";
import { testCacheDir, weightsDir } from "../../engine/test/weights/weights-dir.ts";
import type { SetName } from "../../engine/weights/sets.ts";
import { socketPath } from "../../src/base/network/listen.ts";
import { type ChildServer, createHome, type Environment, type Home } from "./child.ts";

/** A server of its own with the real embedded models, from the cache that all tests share. */
export interface EngineHome {
  readonly home: Home;
  readonly server: ChildServer;
  readonly client: OpenAI;
  /** Where the engine itself listens, behind the gateway, once a model was called. */
  readonly socket: string;
  /** A fetch with the key and JSON, to a path below /v1. */
  call(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  status(): Promise<EngineStatus>;
  stop(): Promise<void>;
}

export interface EngineStatus {
  readonly engine: {
    readonly state: string;
    readonly pid: number;
    readonly models: readonly {
      readonly name: string;
      readonly state: string;
      readonly pid: number | null;
      readonly active: number;
      readonly waiting: number;
    }[];
  };
}

export async function startEngineHome(options: {
  readonly sets: readonly SetName[];
  readonly environment?: Environment;
  readonly config?: string;
}): Promise<EngineHome> {
  for (const set of options.sets) await weightsDir(set);
  const home = createHome({ isProcess: true });
  if (options.config !== undefined) home.writeConfig(options.config);
  const server = await home.serve({
    SVC_ENGINE: "on",
    SVC_CACHE_DIR: testCacheDir(),
    ...options.environment,
  });
  const key = server.key ?? "";
  return {
    home,
    server,
    client: new OpenAI({ baseURL: server.baseUrl, apiKey: key, maxRetries: 0 }),
    socket: socketPath(home.dataDir, "engine.sock"),
    call: (path, body, init = {}) =>
      fetch(`${server.baseUrl}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        ...init,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      }),
    status: () => home.json<EngineStatus>(["engine", "status"]),
    async stop() {
      await server.stop();
      await home.remove();
    },
  };
}
