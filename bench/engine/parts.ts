/** The measuring of a gateway whose weights are here: chat, embeddings, speech, memory. */
import { readFileSync } from "node:fs";
import { weigh } from "../load/processes.ts";
import { type Call, chat, embed, type Gateway, speak } from "./calls.ts";
import type { Figure, Part } from "./report.ts";
import type { EngineServer } from "./server.ts";
import { images, longPrompt, paragraph, shortPrompt, shortTexts, video } from "./traffic.ts";

export type PartOptions = {
  readonly server: EngineServer;
  readonly gateway: Gateway;
  readonly tell: (line: string) => void;
};

const rounds = [1, 2, 3];
const answerTokens = 64;
const singles = 50;
const batch = 100;
const callTimeoutMs = 180_000;

export async function measureChat({ gateway, tell }: PartOptions): Promise<readonly Figure[]> {
  const call: Call = { gateway, timeoutMs: callTimeoutMs };
  await chat({ call, prompt: "Hello!", maxTokens: 2 });
  const speeds: number[] = [];
  const firsts: number[] = [];
  const longFirsts: number[] = [];
  let [shortTokens, longTokens] = [0, 0];
  for (const round of rounds) {
    tell(`chat, round ${round} of ${rounds.length}`);
    const told = await chat({ call, prompt: shortPrompt(round), maxTokens: answerTokens });
    if (told.completionTokens < answerTokens / 2)
      throw new Error(`chat: ${told.completionTokens} tokens are too few to tell a speed`);
    speeds.push(((told.completionTokens - 1) * 1000) / told.decodeMs);
    firsts.push(told.firstMs);
    shortTokens = told.promptTokens;
    const long = await chat({ call, prompt: longPrompt(round), maxTokens: 2 });
    longFirsts.push(long.firstMs);
    longTokens = long.promptTokens;
  }
  return [
    {
      name: "tokens_per_s",
      label: `decoding, replies of ${answerTokens} tokens`,
      unit: "tokens/s",
      digits: 1,
      values: speeds,
    },
    {
      name: "first_short_ms",
      label: `first token, prompt of ${shortTokens} tokens`,
      unit: "ms",
      digits: 0,
      values: firsts,
    },
    {
      name: "first_long_ms",
      label: `first token, prompt of ${longTokens} tokens`,
      unit: "ms",
      digits: 0,
      values: longFirsts,
    },
  ];
}

export async function measureTexts({ gateway, tell }: PartOptions): Promise<readonly Figure[]> {
  const call: Call = { gateway, timeoutMs: callTimeoutMs };
  const model = "svc-embedding-2";
  await embed({ call, model, input: shortTexts(batch, 0), vectors: batch });
  const alone: number[] = [];
  const together: number[] = [];
  for (const round of rounds) {
    tell(`text embeddings, round ${round} of ${rounds.length}`);
    const aloneMs = await timed(async () => {
      for (const input of shortTexts(singles, round))
        await embed({ call, model, input, vectors: 1 });
    });
    alone.push((singles * 1000) / aloneMs);
    const input = shortTexts(batch, round);
    const batchMs = await timed(() => embed({ call, model, input, vectors: batch }));
    together.push((batch * 1000) / batchMs);
  }
  return [
    {
      name: "texts_alone_per_s",
      label: "short texts, one by one",
      unit: "texts/s",
      digits: 0,
      values: alone,
    },
    {
      name: "texts_batch_per_s",
      label: `short texts, ${batch} per request`,
      unit: "texts/s",
      digits: 0,
      values: together,
    },
  ];
}

export async function measureMedia({ gateway, tell }: PartOptions): Promise<readonly Figure[]> {
  const call: Call = { gateway, timeoutMs: callTimeoutMs };
  const model = "multimodal-embedding-1";
  const [pictures, clip] = [images(), video()];
  await embed({ call, model, input: pictures, vectors: pictures.length });
  await embed({ call, model, input: clip, vectors: 1 });
  const pictureMs: number[] = [];
  const clipMs: number[] = [];
  for (const round of rounds) {
    tell(`images and clips, round ${round} of ${rounds.length}`);
    const allMs = await timed(async () => {
      for (const input of pictures) await embed({ call, model, input, vectors: 1 });
    });
    pictureMs.push(allMs / pictures.length);
    clipMs.push(await timed(() => embed({ call, model, input: clip, vectors: 1 })));
  }
  return [
    { name: "image_ms", label: "images, one by one", unit: "ms", digits: 0, values: pictureMs },
    { name: "clip_ms", label: "a clip of 2 s", unit: "ms", digits: 0, values: clipMs },
  ];
}

export async function measureSpeech({ gateway, tell }: PartOptions): Promise<readonly Figure[]> {
  const call: Call = { gateway, timeoutMs: callTimeoutMs };
  const [flash, pro] = ["svc-2.5-flash-tts", "svc-2.5-pro-tts"];
  await speak({ call, model: flash, text: "Hello from here." });
  const flashFactors: number[] = [];
  const proFactors: number[] = [];
  const firsts: number[] = [];
  let audioS = 0;
  for (const round of rounds) {
    tell(`speech, round ${round} of ${rounds.length}`);
    const quick = await speak({ call, model: flash, text: paragraph(round) });
    flashFactors.push(quick.totalMs / 1000 / quick.audioS);
    firsts.push(quick.firstMs);
    const careful = await speak({ call, model: pro, text: paragraph(round) });
    proFactors.push(careful.totalMs / 1000 / careful.audioS);
    audioS = careful.audioS;
  }
  const unit = { unit: "s a s of audio", digits: 2 };
  const text = `a paragraph of ${audioS.toFixed(0)} s`;
  return [
    { name: "flash_factor", label: `flash, ${text}`, ...unit, values: flashFactors },
    {
      name: "flash_first_ms",
      label: "flash, first audio",
      unit: "ms",
      digits: 0,
      values: firsts,
    },
    { name: "pro_factor", label: `pro, ${text}`, ...unit, values: proFactors },
  ];
}

/** Memory of a model's process, just after the work that the bench gave it. */
export async function weighModel(server: EngineServer, model: string): Promise<readonly Figure[]> {
  const pid = (await server.modelPids()).get(model);
  if (pid === undefined) throw new Error(`${model} has no process`);
  return [memory({ name: `${model}_mb`, label: `model process ${model}`, pid })];
}

/** The engine's server and the gateway, found as the parents of a model's process. */
export async function weighServers(server: EngineServer): Promise<readonly Figure[]> {
  const [model] = (await server.modelPids()).values();
  const engine = model === undefined ? 0 : parentOf(model);
  if (engine === 0) throw new Error("no model is loaded, so the engine's process is not known");
  return [
    memory({ name: "gateway_mb", label: "gateway process", pid: parentOf(engine) }),
    memory({ name: "engine_mb", label: "engine process", pid: engine }),
  ];
}

/** Seconds until every model's process is gone, counted from now, when nobody calls any more. */
export async function measureIdle(
  server: EngineServer,
  limitS: number,
): Promise<readonly Figure[]> {
  const before = [...(await server.modelPids()).values()];
  if (before.length === 0) throw new Error("no model was loaded any more");
  const startedMs = performance.now();
  while (performance.now() - startedMs < limitS * 1000) {
    const listed = await server.modelPids();
    if (listed.size === 0 && !before.some(isAlive)) {
      const waitedS = (performance.now() - startedMs) / 1000;
      return [
        {
          name: "idle_gone_s",
          label: "idle: all model processes ended after",
          unit: "s",
          digits: 0,
          values: [waitedS],
        },
      ];
    }
    await Bun.sleep(250);
  }
  throw new Error(`model processes were still there ${limitS} s after the last call`);
}

/** Runs a part; what fails in it is told, and the other parts go on. */
export async function part(
  title: string,
  works: readonly (() => Promise<readonly Figure[]>)[],
): Promise<Part> {
  const figures: Figure[] = [];
  const problems: string[] = [];
  for (const work of works) {
    try {
      figures.push(...(await work()));
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { title, figures, problems };
}

type Weighed = Pick<Figure, "name" | "label"> & { readonly pid: number };

function memory({ name, label, pid }: Weighed): Figure {
  return { name, label, unit: "MB", digits: 0, values: [weigh(pid).rssBytes / 1e6] };
}

function parentOf(pid: number): number {
  if (process.platform === "linux")
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0);
  const { stdout } = Bun.spawnSync(["ps", "-o", "ppid=", "-p", String(pid)]);
  return Number(stdout.toString().trim());
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
