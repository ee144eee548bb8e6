import { errorKinds } from "../base/errors.ts";
import type { Receipt } from "../ledger/receipt.ts";
import { type Counter, ModelTraffic } from "./model-traffic.ts";
import { NanoSum } from "./nano-sum.ts";

/** More models or providers than these are counted together, so that no family grows without end. */
const mostModels = 200;
const mostProviders = 100;
const other = "other";

const knownOutcomes: ReadonlySet<string> = new Set([
  "ok",
  "left",
  "replayed",
  ...Object.keys(errorKinds),
]);

/** What was asked for, as far as that is known. */
interface Asked {
  readonly endpoint: string;
  readonly model: { readonly id: string } | undefined;
}

/** All that is counted for one provider. */
class ProviderTraffic {
  /** By what came of the attempt. */
  readonly attempts = new Map<string, Counter>();
  /** Cost beyond holds, by the usage that the provider reported. */
  readonly reported = new NanoSum();
  /** The same by our own estimate, where it reported none. */
  readonly estimated = new NanoSum();
}

/**
 * Counts calls: those that were let in by their receipts, all others as they are answered. Labels
 * are models of the catalogue, providers and known outcomes; never who called.
 */
export class Traffic {
  readonly #models = new Map<string, ModelTraffic>();
  /** Those that a request met, by model alone; the usual way to them. */
  readonly #byModel = new Map<string, ModelTraffic>();
  readonly #providers = new Map<string, ProviderTraffic>();

  /** Replies below 500 without a receipt: by status, then by code. */
  readonly #rejections = new Map<number, Map<string, Counter>>();

  readonly watch = (receipt: Receipt): void => {
    const traffic = this.#find(receipt.endpoint, receipt.model);
    traffic.add(receipt);
    count(traffic.requests, receipt.outcome);
    this.#countAttempts(receipt);
  };

  /** A reply without a receipt. */
  count({ endpoint, model }: Asked, outcome: string): void {
    count(this.#find(endpoint, model?.id ?? "").requests, outcome);
  }

  /** It is counted as a reply, too. */
  countRejection({ status, code }: { readonly status: number; readonly code: string }): void {
    const counters = this.#rejections.get(status);
    if (counters !== undefined) count(counters, code);
    else this.#rejections.set(status, new Map([[code, { count: 1 }]]));
  }

  get rejections(): Iterable<readonly [number, ReadonlyMap<string, Counter>]> {
    return this.#rejections;
  }

  get models(): Iterable<ModelTraffic> {
    return this.#models.values();
  }

  get providers(): Iterable<readonly [string, ProviderTraffic]> {
    return this.#providers;
  }

  #find(endpoint: string, model: string): ModelTraffic {
    const known = this.#byModel.get(model);
    return known?.endpoint === endpoint ? known : this.#findSlowly(endpoint, model);
  }

  #findSlowly(endpoint: string, model: string): ModelTraffic {
    const isFull = this.#byModel.size >= mostModels && !this.#byModel.has(model);
    const name = isFull ? other : model;
    const key = `${endpoint}\n${name}`;
    const traffic = this.#models.get(key) ?? new ModelTraffic(endpoint, name);
    this.#models.set(key, traffic);
    if (!isFull) this.#byModel.set(model, traffic);
    return traffic;
  }

  #countAttempts({ attempts, provider, outcome, cost, charged, estimated }: Receipt): void {
    // No target could be asked: what is listed is only the reason.
    if (provider === "") return;
    for (const attempt of attempts)
      count(this.#providerNamed(attempt.provider).attempts, attempt.code ?? outcome);
    if (cost <= charged) return;
    const traffic = this.#providerNamed(provider);
    (estimated ? traffic.estimated : traffic.reported).add(cost - charged);
  }

  #providerNamed(provider: string): ProviderTraffic {
    const known = this.#providers.get(provider);
    if (known !== undefined) return known;
    const name = this.#providers.size < mostProviders ? provider : other;
    const traffic = this.#providers.get(name) ?? new ProviderTraffic();
    this.#providers.set(name, traffic);
    return traffic;
  }
}

function count(counters: Map<string, Counter>, outcome: string): void {
  const counter = counters.get(outcome);
  if (counter !== undefined) counter.count++;
  else begin(counters, outcome);
}

function begin(counters: Map<string, Counter>, outcome: string): void {
  if (!knownOutcomes.has(outcome) && outcome !== other) return count(counters, other);
  counters.set(outcome, { count: 1 });
}
