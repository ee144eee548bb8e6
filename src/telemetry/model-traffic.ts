import type { Units } from "../call/price.ts";
import type { Receipt } from "../ledger/receipt.ts";
import { toLabels } from "./exposition.ts";
import { Histogram, toBounds } from "./histogram.ts";
import { NanoSum } from "./nano-sum.ts";

/** From an embedding that was ready in a moment to a thought of minutes. */
const bounds = toBounds([
  10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 60_000, 150_000, 300_000, 600_000,
]);

export interface Counter {
  count: number;
}

/** All that is counted for one model of one endpoint; both may be "" where they are not known. */
export class ModelTraffic {
  readonly endpoint: string;
  readonly model: string;
  readonly labels: string;
  /** By outcome. */
  readonly requests = new Map<string, Counter>();
  /** Calls that were let in: only these have any of what follows. */
  receipts = 0;
  input = 0;
  cachedInput = 0;
  cacheWrite = 0;
  output = 0;
  audioOutput = 0;
  images = 0;
  videoSeconds = 0;
  audioSeconds = 0;
  readonly charged = new NanoSum();
  readonly vendorCost = new NanoSum();
  readonly shortfall = new NanoSum();
  readonly duration = new Histogram(bounds);
  readonly firstByte = new Histogram(bounds);

  constructor(endpoint: string, model: string) {
    this.endpoint = endpoint;
    this.model = model;
    this.labels = toLabels({ endpoint, model });
  }

  /** Without an object, a promise or a piece of text: it runs between two requests. */
  add(receipt: Receipt): void {
    const { vendorCost, firstByteMs } = receipt;
    this.receipts++;
    this.#addUnits(receipt.units);
    this.charged.add(receipt.charged);
    if (receipt.cost > receipt.charged) this.shortfall.add(receipt.cost - receipt.charged);
    if (vendorCost !== undefined) this.vendorCost.add(vendorCost);
    this.duration.observe(receipt.durationMs);
    if (firstByteMs !== undefined) this.firstByte.observe(firstByteMs);
  }

  #addUnits(units: Units): void {
    this.input += units.input ?? 0;
    this.cachedInput += units.cached_input ?? 0;
    this.cacheWrite += units.cache_write ?? 0;
    this.output += units.output ?? 0;
    this.audioOutput += units.audio_output ?? 0;
    this.images += units.image ?? 0;
    this.videoSeconds += units.video_second ?? 0;
    this.audioSeconds += units.audio_second ?? 0;
  }
}
