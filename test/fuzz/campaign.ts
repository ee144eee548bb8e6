import { makeCase } from "./cases/cases.ts";
import type { FuzzCase } from "./cases/fuzz-case.ts";
import { keyMark, promptMark } from "./cases/odd-values.ts";
import { Connection, type Outcome } from "./connection.ts";
import { judge } from "./judge.ts";

export interface Campaign {
  readonly origin: string;
  readonly key: string;
  readonly seed: number;
  /** Case numbers `first` to `first + cases - 1`. */
  readonly first?: number;
  readonly cases: number;
  readonly connections?: number;
  readonly deadlineMs?: number;
  /** Ours unless told otherwise. */
  readonly make?: typeof makeCase;
  /** The bytes as they are sent; default: as they are. */
  readonly filled?: (bytes: Buffer) => Buffer;
  /** Resolves when the server has ended, which it must not. */
  readonly exited?: Promise<number>;
  /** After each batch, when nothing is under way. */
  readonly onBatch?: (casesDone: number) => void | Promise<void>;
}

export interface FuzzFailure {
  readonly caseNumber: number;
  readonly group: string;
  readonly name: string;
  readonly problem: string;
  readonly bytes: Buffer;
}

export interface CampaignResult {
  readonly casesRun: number;
  readonly requests: number;
  /** How many different requests, byte for byte, the cases were. */
  readonly distinct: number;
  readonly failures: readonly FuzzFailure[];
  /** Replies of our code, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly groups: Readonly<Record<string, number>>;
  /** Cases that the runtime's HTTP parser refused, or whose connection it ended. */
  readonly refusedBelow: number;
  readonly slowestMs: number;
  readonly slowestCase: number;
}

const batchCases = 1_000;
const mostFailures = 20;

/** Runs cases over a few connections at once; ends early when so much fails that more says nothing. */
export async function runCampaign(campaign: Campaign): Promise<CampaignResult> {
  const { first = 0, cases } = campaign;
  const tally = new Tally();
  const crash = campaign.exited?.then((code) => {
    tally.fail(tally.lastStarted, undefined, `the server ended with ${code}`);
    tally.isOver = true;
  });
  const behind = first + cases;
  for (let start = first; start < behind && !tally.isOver; start += batchCases) {
    const batch = runBatch({ campaign, tally, start, end: Math.min(start + batchCases, behind) });
    await (crash === undefined ? batch : Promise.race([batch, crash]));
    if (!tally.isOver) await checkHealth(campaign, tally);
    await campaign.onBatch?.(Math.min(start + batchCases, behind) - first);
  }
  return tally.result();
}

interface Batch {
  readonly campaign: Campaign;
  readonly tally: Tally;
  readonly start: number;
  /** The number behind the last one. */
  readonly end: number;
}

async function runBatch({ campaign, tally, start, end }: Batch): Promise<void> {
  const { make = makeCase, seed, key } = campaign;
  const numbers = Array.from({ length: end - start }, (_, at) => start + at).values();
  const worker = async () => {
    const line = new Line(campaign);
    // The workers share one iterator: each takes the next number that is left.
    for (const caseNumber of numbers) {
      const fuzzCase = make(seed, caseNumber, key);
      tally.lastStarted = caseNumber;
      tally.count(caseNumber, fuzzCase, await line.run(fuzzCase));
      if (tally.isOver) break;
    }
    line.close();
  };
  await Promise.all(Array.from({ length: campaign.connections ?? 8 }, worker));
}

/** One connection at a time, kept as long as it is good for another request. */
class Line {
  readonly #origin: string;
  readonly #deadlineMs: number;
  readonly #filled: (bytes: Buffer) => Buffer;
  #connection: Connection | undefined;

  constructor({ origin, deadlineMs = 60_000, filled = (bytes) => bytes }: Campaign) {
    this.#filled = filled;
    this.#origin = origin;
    this.#deadlineMs = deadlineMs;
  }

  async run({ bytes, form, expects, isAlone, halfCloses, cutAt }: FuzzCase): Promise<Outcome> {
    if (isAlone === true || this.#connection?.isUsable === false) this.close();
    this.#connection ??= new Connection(this.#origin);
    const outcome = await this.#connection.exchange({
      bytes: this.#filled(bytes),
      replies: form === "broken" || form === "version" ? [{}] : expects,
      deadlineMs: this.#deadlineMs,
      ...(cutAt === undefined ? {} : { cutAt }),
      ...(halfCloses === undefined ? {} : { halfCloses }),
    });
    if (isAlone === true || outcome.end !== "open") this.close();
    return outcome;
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/** The server must answer at once when nothing else is under way. */
async function checkHealth({ origin, deadlineMs = 60_000 }: Campaign, tally: Tally): Promise<void> {
  try {
    const response = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(deadlineMs) });
    if (response.status !== 200) throw new Error(`it answers ${response.status}`);
    await response.text();
  } catch (error) {
    tally.fail(tally.lastStarted, undefined, `/healthz does not answer: ${String(error)}`);
    tally.isOver = true;
  }
}

class Tally {
  isOver = false;
  lastStarted = 0;
  readonly #failures: FuzzFailure[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #groups: Record<string, number> = {};
  readonly #requestIds = new Set<string>();
  /** By a hash of 64 bits: of a hundred thousand, no two are the same by chance. */
  readonly #sent = new Set<number | bigint>();
  #casesRun = 0;
  #requests = 0;
  #refusedBelow = 0;
  #slowestMs = 0;
  #slowestCase = 0;

  count(caseNumber: number, fuzzCase: FuzzCase, outcome: Outcome): void {
    const verdict = judge(fuzzCase, outcome);
    this.#casesRun++;
    this.#sent.add(Bun.hash(fuzzCase.bytes));
    this.#requests += fuzzCase.expects.length;
    this.#groups[fuzzCase.group] = (this.#groups[fuzzCase.group] ?? 0) + 1;
    for (const status of verdict.statuses)
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (verdict.isBelowUs) this.#refusedBelow++;
    if (outcome.tookMs > this.#slowestMs) {
      this.#slowestMs = outcome.tookMs;
      this.#slowestCase = caseNumber;
    }
    if (verdict.problem !== undefined) this.fail(caseNumber, fuzzCase, verdict.problem);
    for (const { headers } of outcome.replies) {
      const id = headers.get("x-request-id");
      if (id === undefined) continue;
      if (this.#requestIds.has(id)) this.fail(caseNumber, fuzzCase, "a request id came twice");
      this.#requestIds.add(id);
    }
  }

  fail(caseNumber: number, fuzzCase: FuzzCase | undefined, problem: string): void {
    const {
      group = "server",
      name = "the last case that began",
      bytes = Buffer.alloc(0),
    } = fuzzCase ?? {};
    this.#failures.push({ caseNumber, group, name, problem, bytes });
    if (this.#failures.length >= mostFailures) this.isOver = true;
  }

  result(): CampaignResult {
    return {
      casesRun: this.#casesRun,
      requests: this.#requests,
      distinct: this.#sent.size,
      failures: [...this.#failures],
      statuses: this.#statuses,
      groups: this.#groups,
      refusedBelow: this.#refusedBelow,
      slowestMs: this.#slowestMs,
      slowestCase: this.#slowestCase,
    };
  }
}

/** A case that was sent before says nothing new: too many of them, and the number of cases lies. */
export function samenessIn({
  casesRun,
  distinct,
}: Pick<CampaignResult, "casesRun" | "distinct">): readonly string[] {
  return distinct * 100 < casesRun * leastDistinctPercent
    ? [`only ${distinct} of ${casesRun} cases are distinct requests`]
    : [];
}

const leastDistinctPercent = 95;

/** What of the callers' words and keys stands in a log: nothing may. */
export function leaksIn(log: string, key: string): readonly string[] {
  return [promptMark, keyMark, key].filter((secret) => secret !== "" && log.includes(secret));
}
