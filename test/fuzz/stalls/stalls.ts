import { corpus } from "./cases/corpus.ts";
import { type StallCase, type StallRequest, sizeProblem } from "./cases/stall-case.ts";
import { usualReply } from "./cases/upstream-bytes.ts";
import { Probe, type Rounds } from "./probe.ts";
import { forgetPeak, peakBytes, processorSeconds } from "./process-figures.ts";
import { sendRequest } from "./sender.ts";
import { type StallTarget, startStallTarget } from "./stall-target.ts";

export interface StallOptions {
  readonly cases?: readonly StallCase[];
  /** No case may stall longer than this. */
  readonly boundMs: number;
  /** How often a case above the bound runs at most; its best run counts. */
  readonly repeats: number;
  readonly onCase?: (done: number, all: number) => void;
}

/** The best of the runs of one case. */
export interface StallFigures {
  readonly name: string;
  readonly attacks: string;
  /** Longest stalls of /healthz without the usual round trip; undefined: it did not answer again. */
  readonly gatewayMs: number | undefined;
  readonly platformMs: number | undefined;
  /** Most processor time of the event loop while one /healthz waited; undefined: it froze. */
  readonly loopMs: number | undefined;
  readonly processorS: number;
  readonly peakBytes: number;
  /** How often each status came. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly runs: number;
}

export interface StallsResult {
  readonly boundMs: number;
  readonly cases: readonly StallFigures[];
  /** Of idle rounds, over the whole campaign. */
  readonly idle: { readonly medianMs: number; readonly longestMs: number };
  readonly problems: readonly string[];
}

/** After so long without an answer a process counts as frozen, and the next case gets another. */
const frozenMs = 20_000;
const idleMs = 150;
const certainMs = 1_000;

export function findCases(name: string): readonly StallCase[] {
  const found = corpus.filter((one) => one.name === name);
  if (found.length > 0) return found;
  const near = corpus.filter((one) => one.name.includes(name)).map((one) => one.name);
  const hint = near.length === 0 ? "" : ` Similar: ${near.slice(0, 10).join(", ")}.`;
  throw new Error(`--case ${name} does not exist.${hint}`);
}

export async function runStalls(options: StallOptions): Promise<StallsResult> {
  const { cases = corpus, boundMs, onCase } = options;
  const bench = new Bench();
  const figures: StallFigures[] = [];
  try {
    for (const stallCase of cases) {
      figures.push(await measure(bench, stallCase, options));
      onCase?.(figures.length, cases.length);
    }
    const { idle } = bench;
    return { boundMs, cases: figures, idle, problems: problemsOf(figures, boundMs) };
  } finally {
    await bench.stop();
  }
}

/** A short stall may be the machine's doing: a case above the bound runs again. */
async function measure(
  bench: Bench,
  stallCase: StallCase,
  { boundMs, repeats }: StallOptions,
): Promise<StallFigures> {
  let best: StallFigures | undefined;
  for (let run = 1; run <= repeats; run++) {
    const figures = await bench.run(stallCase);
    const isBetter = best === undefined || longestOf(figures) < longestOf(best);
    best = { ...(isBetter || best === undefined ? figures : best), runs: run };
    // Nor is a stall of a second the machine's doing.
    if (longestOf(best) <= boundMs || longestOf(best) > certainMs) break;
  }
  if (best === undefined) throw new Error("repeats must be at least 1");
  return best;
}

export function longestOf({ gatewayMs, platformMs }: StallFigures): number {
  if (gatewayMs === undefined || platformMs === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(gatewayMs, platformMs);
}

export function problemsOf(figures: readonly StallFigures[], boundMs: number): readonly string[] {
  return figures
    .filter((one) => longestOf(one) > boundMs)
    .map((one) => {
      const longest = longestOf(one);
      const took = Number.isFinite(longest) ? `${Math.round(longest)} ms` : `over ${frozenMs} ms`;
      return `${one.name}: /healthz stalled for ${took}, more than ${boundMs} ms (${one.attacks})`;
    });
}

/** A gateway and the thread that watches it; replaced when it freezes or ends. */
class Bench {
  #target: StallTarget | undefined;
  #probe: Probe | undefined;
  readonly #idle: Rounds[] = [];

  get idle(): StallsResult["idle"] {
    const medians = this.#idle.map(({ medianMs }) => medianMs).toSorted((a, b) => a - b);
    return {
      medianMs: medians[Math.floor(medians.length / 2)] ?? 0,
      longestMs: Math.max(0, ...this.#idle.map(({ stallMs }) => stallMs)),
    };
  }

  async run(stallCase: StallCase): Promise<StallFigures> {
    const { target, probe } = await this.#ready();
    const { name, attacks, reply } = stallCase;
    const bytes = reply?.();
    target.upstream.replyWith((path) => bytes ?? usualReply(path));
    const request = stallCase.request();
    const problem = sizeProblem(request);
    if (problem !== undefined) throw new Error(`${name}: ${problem}`);
    await probe.take();
    await Bun.sleep(idleMs);
    const idle = await probe.take();
    this.#idle.push(...idle);
    forgetPeak(target.pid);
    const startS = processorSeconds(target.pid) ?? 0;
    const statuses = await sendAll({ target, stallCase, request });
    const rounds = await Promise.race([probe.take(), Bun.sleep(frozenMs).then(() => undefined)]);
    const [gateway, platform] = rounds ?? [];
    const above = (now: Rounds | undefined, usual: Rounds | undefined) =>
      now === undefined ? undefined : Math.max(0, now.stallMs - (usual?.medianMs ?? 0));
    const figures = {
      name,
      attacks,
      gatewayMs: above(gateway, idle[0]),
      platformMs: above(platform, idle[1]),
      loopMs: rounds && Math.max(...rounds.map(({ loopMs }) => loopMs)),
      processorS: (processorSeconds(target.pid) ?? startS) - startS,
      peakBytes: peakBytes(target.pid) ?? 0,
      statuses,
      runs: 1,
    };
    if (rounds === undefined) await this.stop();
    else if (Object.keys(statuses).some((status) => Number(status) >= 429)) await target.heal();
    return figures;
  }

  async #ready(): Promise<{ readonly target: StallTarget; readonly probe: Probe }> {
    this.#target ??= await startStallTarget();
    const { pid, origin, platformOrigin } = this.#target;
    this.#probe ??= new Probe({ pid, origins: [origin, platformOrigin] });
    return { target: this.#target, probe: this.#probe };
  }

  async stop(): Promise<void> {
    await this.#probe?.stop();
    await this.#target?.stop();
    this.#probe = undefined;
    this.#target = undefined;
  }
}

interface Sending {
  readonly target: StallTarget;
  readonly stallCase: StallCase;
  readonly request: StallRequest;
}

/** Ends also when nothing answers any more: then the measuring thread shows it. */
async function sendAll({ target, stallCase, request }: Sending): Promise<Record<string, number>> {
  const { times = 1, atOnce = 1 } = stallCase;
  const statuses: Record<string, number> = {};
  const signal = AbortSignal.timeout(frozenMs);
  const turns = Array.from({ length: times }).values();
  const worker = async () => {
    // The workers share one iterator: each takes the next turn that is left.
    for (const _ of turns) {
      if (signal.aborted) break;
      const status = await sendRequest(toSent(target, request, signal));
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return statuses;
}

function toSent(target: StallTarget, request: StallRequest, signal: AbortSignal) {
  const { to = "gateway", body, path, delivery = "length", isSignedIn = true } = request;
  const secret = to === "gateway" ? target.key : target.token;
  return {
    origin: to === "gateway" ? target.origin : target.platformOrigin,
    method: request.method ?? (body === undefined ? "GET" : "POST"),
    path: path.replace(":account", target.account),
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(isSignedIn ? { authorization: `Bearer ${secret}` } : {}),
      ...request.headers,
    },
    body,
    delivery,
    signal,
  };
}
