/**
 * The rounds: each workload goes to each contender in turn, so that what is compared was measured
 * seconds apart. Wrong replies of our gateway, the bare proxy or nginx end the bench; a peer that
 * fails a workload is left out of it from then on, and the tables show why.
 */
import { measureJob } from "../load/measure.ts";
import type { Child } from "../load/processes.ts";
import type { Contender } from "./contender.ts";
import { Results, toSample } from "./results.ts";
import { jobOf, type Workload, warmUp } from "./workloads.ts";

export type RoundsOptions = {
  readonly generator: Child;
  readonly upstream: Child;
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly tell: (line: string) => void;
  readonly step: (label: string) => void;
};

/** After a failure, a peer may still be busy with what was aborted. */
const calmTimeoutMs = 60_000;
const calmStepMs = 500;
const calmCores = 0.1;

export class Rounds {
  readonly results = new Results();
  /** Replies per contender in all, to compare with its receipts. */
  readonly replies = new Map<string, number>();
  readonly #options: RoundsOptions;
  /** Rates of contenders that cannot take a workload's own. */
  readonly #rates = new Map<string, number>();

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Rounds with all short workloads, then the long ones once. The first round warms up. */
  async run(): Promise<Results> {
    const { contenders, workloads, rounds, tell } = this.#options;
    const short = workloads.filter(({ isLong }) => !isLong);
    for (let round = 0; round <= rounds; round++) {
      tell(round === 0 ? "warming up" : `round ${round} of ${rounds}`);
      const order = round % 2 === 0 ? contenders : contenders.toReversed();
      const sent = round === 0 ? short.flatMap((one) => warmUp(one) ?? []) : short;
      for (const workload of sent)
        for (const contender of order) await this.#measureAt({ workload, contender, round });
    }
    for (const workload of workloads.filter(({ isLong }) => isLong)) {
      tell(workload.label);
      for (const contender of contenders) await this.#measureAt({ workload, contender, round: 1 });
    }
    return this.results;
  }

  rateOf(workload: Workload, contender: Contender): number | undefined {
    return this.#rates.get(`${workload.id} ${contender.name}`) ?? workload.rate;
  }

  /** The direct way is measured at every rate that someone else has. */
  #ratesOf(workload: Workload, contender: Contender): readonly (number | undefined)[] {
    if (contender.proxy !== undefined) return [this.rateOf(workload, contender)];
    return [...new Set(this.#options.contenders.map((one) => this.rateOf(workload, one)))];
  }

  async #measureAt(options: {
    readonly workload: Workload;
    readonly contender: Contender;
    readonly round: number;
  }): Promise<void> {
    const { workload, contender } = options;
    const { name, onlyIn, proxy } = contender;
    if (proxy === undefined && !workload.onDirect) return;
    if (onlyIn !== undefined && !onlyIn.includes(workload.id)) return;
    if (this.results.failure(workload.id, name) !== undefined) return;
    for (const rate of this.#ratesOf(workload, contender))
      await this.#measure({ ...options, rate });
  }

  async #measure(options: {
    readonly workload: Workload;
    readonly contender: Contender;
    readonly round: number;
    readonly rate: number | undefined;
  }): Promise<void> {
    const { workload, contender, round, rate } = options;
    const { generator, upstream, step } = this.#options;
    const { name, title, proxy } = contender;
    step(`${title}: ${workload.label}`);
    const job = jobOf({ workload, contender, rate });
    const measurement = await measureJob({ generator, upstream, proxy, job }).catch((cause) => {
      throw new Error(`${title}, ${workload.label}, round ${round}: ${String(cause)}`, { cause });
    });
    const { replies, failures, dropped, firstFailure = "replies are missing" } = measurement.result;
    this.replies.set(name, (this.replies.get(name) ?? 0) + replies);
    if (failures > 0 || dropped > 0 || replies === 0) {
      if (!contender.isPeer)
        throw new Error(
          `${title}, ${workload.label}: ${failures} failed; the first: ${firstFailure}\n${proxy?.lastWords() ?? ""}`,
        );
      this.results.fail(workload.id, name, firstFailure);
      return this.#calm(proxy);
    }
    const sample = toSample({ workload, measurement, round, rate });
    if (round === 0) this.#setRates(contender, workload, sample.requestsPerSecond);
    else this.results.add(workload.id, name, sample);
  }

  /** A peer that a gentle rate would saturate gets one that it can take. */
  #setRates({ name, isPeer }: Contender, { id }: Workload, perSecond: number): void {
    if (!isPeer) return;
    if (id === "chat-1k" && perSecond < 2_500)
      this.#rates.set(`gentle ${name}`, Math.max(1, Math.floor(perSecond * 0.3)));
    if (id === "streams-200x50" && perSecond < 250)
      this.#rates.set(`first-token ${name}`, Math.max(1, Math.floor(perSecond * 0.5)));
  }

  async #calm(proxy: Child | undefined): Promise<void> {
    if (proxy === undefined) return;
    const deadlineMs = performance.now() + calmTimeoutMs;
    while (!proxy.ended && performance.now() < deadlineMs) {
      const { cpuMs } = proxy.weigh();
      await Bun.sleep(calmStepMs);
      if (proxy.weigh().cpuMs - cpuMs < calmStepMs * calmCores) return;
    }
  }
}
