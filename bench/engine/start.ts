/** How long a person waits after `npm start`, and what it takes on the disk. */
import { join } from "node:path";
import { type SetName, setNames } from "../../engine/weights/sets.ts";
import { readyDir } from "../../engine/weights/state.ts";
import { type Call, chat, embed, type Gateway, ModelLoading, speak } from "./calls.ts";
import { diskMegabytes } from "./clone.ts";
import type { Figure, Part } from "./report.ts";
import type { EngineServer } from "./server.ts";
import { image } from "./traffic.ts";

export type StartOptions = {
  readonly server: EngineServer;
  readonly title: string;
  readonly cacheDir: string;
  /** Of an earlier start on the same data; a first start prints one. */
  readonly knownKey?: string;
  /** All four models, and their weights; else those that a person meets first. */
  readonly isCold: boolean;
  readonly tell: (line: string) => void;
};

export type Start = { readonly gateway: Gateway; readonly part: Part };

/** A fresh clone fetches about a gigabyte before its last answer. */
const coldTimeoutMs = 15 * 60_000;
const warmTimeoutMs = 60_000;
const callTimeoutMs = 60_000;
/** At most four tries a second. */
const tryEveryMs = 250;

/** One call to a model; resolves with the ms from the call to the first of what was asked for. */
type First = {
  readonly name: string;
  readonly label: string;
  readonly call: (call: Call) => Promise<number>;
};

const firstEmbedding: First = {
  name: "embedding_s",
  label: "first embedding",
  call: (call) => timed(embed({ call, model: "svc-embedding-2", input: "A cat.", vectors: 1 })),
};
const firstToken: First = {
  name: "chat_token_s",
  label: "first chat token",
  call: async (call) => (await chat({ call, prompt: "Hello!", maxTokens: 2 })).firstMs,
};
const firstAudio: First = {
  name: "audio_byte_s",
  label: "first audio byte (flash)",
  call: async (call) =>
    (await speak({ call, model: "svc-2.5-flash-tts", text: "Hello from here." })).firstMs,
};
const firstImage: First = {
  name: "image_s",
  label: "first image embedding",
  call: (call) =>
    timed(embed({ call, model: "multimodal-embedding-1", input: image("cat.jpg"), vectors: 1 })),
};

/** Times from the start of the command to the first answers. */
export async function measureStart(options: StartOptions): Promise<Start> {
  const { server, title, knownKey, isCold, tell } = options;
  const timeoutMs = isCold ? coldTimeoutMs : warmTimeoutMs;
  const gateway = await server.listening(timeoutMs, knownKey);
  const figures: Figure[] = [];
  const problems: string[] = [];
  const note = ({ name, label }: Pick<Figure, "name" | "label">, value: number) => {
    figures.push({ name, label, unit: "s", digits: 1, values: [value] });
    tell(`${label} after ${value.toFixed(1)} s`);
  };
  note({ name: "listens_s", label: "listening" }, server.elapsedS);
  const deadlineMs = server.startedMs + timeoutMs;
  const firsts = isCold
    ? [firstEmbedding, firstToken, firstAudio, firstImage]
    : [firstEmbedding, firstToken];
  const waits = firsts.map(async (first) =>
    note(first, await untilServed({ server, gateway, call: first.call, deadlineMs })),
  );
  if (isCold)
    waits.push(
      untilAllReady({ ...options, deadlineMs }).then((value) =>
        note({ name: "weights_s", label: "all weights ready" }, value),
      ),
    );
  for (const wait of await Promise.allSettled(waits))
    if (wait.status === "rejected") problems.push(String(wait.reason));
  return { gateway, part: { title, figures, problems } };
}

/** What a clone, once started, takes on the disk. */
export function measureSizes(projectDir: string, cacheDir: string): Part {
  const megabytes = (named: Pick<Figure, "name" | "label">, value: number): Figure => ({
    ...named,
    unit: "MB",
    digits: 0,
    values: [value],
  });
  const modules = (folder: string) => diskMegabytes(join(folder, "node_modules"));
  const weights = (...sets: readonly SetName[]) =>
    diskMegabytes(...sets.map((set) => readyDir(cacheDir, set) ?? ""));
  return {
    title: "On the disk, as du -m counts",
    figures: [
      megabytes({ name: "gateway_mb", label: "node_modules" }, modules(projectDir)),
      megabytes(
        { name: "engine_mb", label: "engine/node_modules" },
        modules(join(projectDir, "engine")),
      ),
      megabytes({ name: "weights_mb", label: "weights, all" }, weights(...setNames)),
      ...setNames.map((set) =>
        megabytes({ name: `weights_${set}_mb`, label: `  ${set}` }, weights(set)),
      ),
    ],
    problems: [],
  };
}

type Wait = {
  readonly server: EngineServer;
  readonly deadlineMs: number;
};

async function untilServed(
  options: Wait & { readonly gateway: Gateway; readonly call: First["call"] },
): Promise<number> {
  const { server, gateway, call, deadlineMs } = options;
  while (performance.now() < deadlineMs) {
    server.assertAlive();
    const startedS = server.elapsedS;
    try {
      return startedS + (await call({ gateway, timeoutMs: callTimeoutMs })) / 1000;
    } catch (error) {
      if (!(error instanceof ModelLoading)) throw error;
    }
    await Bun.sleep(Math.max(0, tryEveryMs - (server.elapsedS - startedS) * 1000));
  }
  throw new Error("a model was still not ready when the time was over");
}

async function untilAllReady({
  server,
  cacheDir,
  deadlineMs,
}: Wait & { readonly cacheDir: string }): Promise<number> {
  while (performance.now() < deadlineMs) {
    server.assertAlive();
    if (setNames.every((set) => readyDir(cacheDir, set) !== undefined)) return server.elapsedS;
    await Bun.sleep(100);
  }
  throw new Error("weights were still missing when the time was over");
}

async function timed(work: Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work;
  return performance.now() - startedMs;
}
