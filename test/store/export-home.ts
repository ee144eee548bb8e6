/** A store with an export to a shelf, and a clock that tests move. */

import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import { exportSources } from "../../src/app/exports.ts";
import { newId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { type Carrier, otherPath, type Part, partPath } from "../../src/exports/delivery.ts";
import type { Destination } from "../../src/exports/destination.ts";
import { Exporter } from "../../src/exports/exporter.ts";
import type { ExportStore } from "../../src/exports/store.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { hourMs, type Rollups, toHour } from "../../src/ledger/rollups.ts";
import type { LedgerReader } from "../../src/ledger/store.ts";
import { auditOf } from "./audit-sample.ts";
import {
  above2to53,
  entryOf,
  noonMs,
  type Opened,
  receiptOf,
  startSums,
  write,
} from "./ledger-samples.ts";

/** 07:00 on the day of the samples. */
export const beganMs = toHour(noonMs) - 5 * hourMs;
export const minuteMs = 60_000;
export const lagMs = 16 * minuteMs;
export const partRows = 3;

/** What the other side has: each name once, with the rows that it had last. */
export class Shelf implements Carrier {
  readonly mostRows = partRows;
  readonly mostBytes = 1_000_000;
  readonly packs = true;
  readonly files = new Map<string, readonly Record<string, unknown>[]>();
  attempts = 0;
  deliveries = 0;
  failure: Error | undefined;
  /** The number of the one attempt that fails. */
  failsAt: number | undefined;
  /** A delivery waits for it, as on a disk that is gone, and for no signal. */
  hang: Promise<void> | undefined;

  async deliver(part: Part): Promise<string | undefined> {
    this.attempts++;
    await this.hang;
    if (this.failure !== undefined) throw this.failure;
    if (this.attempts === this.failsAt) throw new Error("it returned 503 once");
    this.deliveries++;
    const lines = gunzipSync(part.body).toString().trimEnd().split("\n");
    const rows = lines.map((line) => JSON.parse(line));
    const has = this.files.get(partPath(part));
    const isTaken = !part.replaces && has !== undefined && !isDeepStrictEqual(has, rows);
    this.files.set(isTaken ? otherPath(part) : partPath(part), rows);
    return isTaken ? otherPath(part) : undefined;
  }

  async test(): Promise<void> {}

  names(): readonly string[] {
    return [...this.files.keys()].map((path) => path.split("/").at(-1) ?? "").toSorted();
  }

  ids(): readonly unknown[] {
    return [...this.files.values()].flat().map(({ id }) => id);
  }
}

export const destinationOf = (rest: Partial<Destination> = {}): Destination => ({
  id: "export_1",
  name: "shelf",
  streams: ["receipts"],
  format: "jsonl",
  target: { kind: "file", dir: "/nowhere" },
  fromMs: 0,
  createdAtMs: beganMs,
  pausedAtMs: undefined,
  ...rest,
});

export class ExportHome {
  readonly opened: () => Opened;
  readonly shelf = new Shelf();
  nowMs = beganMs;
  /** Warnings of the exporters, oldest first. */
  readonly lines: string[] = [];
  #rollups: Rollups | undefined;

  constructor(opened: () => Opened) {
    this.opened = opened;
  }

  get store(): ExportStore {
    return this.opened().store.exports;
  }

  async start(): Promise<void> {
    const { store } = this.opened();
    await store.ledger.addEntry(entryOf({ nano: above2to53 }), auditOf());
    this.#rollups = await startSums(store.ledger, beganMs - 24 * hourMs);
    await this.store.add(destinationOf(), auditOf());
  }

  async receive(...atMs: readonly number[]): Promise<readonly string[]> {
    const receipts: readonly Receipt[] = atMs.map((ms) => receiptOf({ id: newId("req", ms) }));
    await this.opened().store.ledger.commit(receipts.map((receipt) => write(receipt)));
    await this.#rollups?.flush(this.nowMs);
    return receipts.map(({ id }) => id);
  }

  exporter(store = this.store): Exporter {
    return new Exporter({
      store,
      sources: exportSources(store, (work) => this.#read(work)),
      openCarrier: () => this.shelf,
      clock: { nowMs: () => this.nowMs },
      lagMs,
      log: createLog({ level: "warn", pretty: false, write: (line) => this.lines.push(line) }),
      random: () => 1,
    });
  }

  async pass(
    exporter = this.exporter(),
    { signal } = new AbortController(),
  ): Promise<number | undefined> {
    const result = await exporter.pass({ signal });
    return result?.rows.get("shelf");
  }

  async state() {
    const [state] = await this.store.states();
    if (state === undefined) throw new Error("there is a stream");
    return state;
  }

  async #read<T>(work: (reader: LedgerReader) => Promise<T>): Promise<T> {
    const reader = await this.opened().database.openReader();
    return work(reader).finally(() => reader.close());
  }
}

/** With its methods free of it. */
export function bound(home: ExportHome) {
  return {
    shelf: home.shelf,
    store: home.store,
    receive: async (...atMs: readonly number[]) => [...(await home.receive(...atMs))],
    pass: (exporter?: Exporter) => home.pass(exporter),
  };
}
