import { idTimeMs } from "../base/ids.ts";
import { type MinuteFigures, type MinuteOwner, MinuteSums } from "./minute-sums.ts";
import type { Receipt } from "./receipt.ts";
import {
  mostListed,
  mostNames,
  othersName,
  type UsageGroup,
  type UsagePoint,
  type UsageQuery,
} from "./reports.ts";
import { UsageSums } from "./usage-sums.ts";

export const minuteMs = 60_000;
/** The current one, and sixty that are over. */
const minutesKept = 61;
export const minutesMs = minutesKept * minuteMs;
/** Beyond these, the rest is told apart by account alone, and beyond twice as many not at all. */
const maxRows = 20_000;

/** Sums of the receipts of one account, key and model that began within one minute. */
export type MinuteRow = MinuteOwner & MinuteFigures;

/** A row that has grown since it was last written, as it is now. */
export interface GrownMinute {
  readonly startMs: number;
  readonly place: number;
  readonly row: MinuteRow;
}

/** Implemented by the store where several processes share one database. */
export interface MinuteStore {
  /** Writes what this process has added up since the last time, and deletes what is too old. */
  write(minutes: Minutes, nowMs: number): Promise<void>;
}

/** The last hour by minutes, in memory: what charts that move are drawn from. */
export class Minutes {
  /** Each has its place; an older one in it is replaced. */
  readonly #minutes = Array.from<MinuteSums | undefined>({ length: minutesKept });
  readonly #maxRows: number;
  #rows = 0;

  constructor(options: { readonly maxRows?: number } = {}) {
    this.#maxRows = options.maxRows ?? maxRows;
  }

  get rows(): number {
    return this.#rows;
  }

  add(receipt: Receipt): void {
    const minute = this.#minuteOf(idTimeMs(receipt.id));
    if (minute !== undefined) minute.add(this.#rowOf(minute, receipt), receipt);
  }

  /** What an earlier process wrote of a minute. */
  addRow(startMs: number, row: MinuteRow): void {
    const minute = this.#minuteOf(startMs);
    if (minute !== undefined) minute.merge(this.#rowOf(minute, row), row);
  }

  grown(): readonly GrownMinute[] {
    return this.#minutes.flatMap((minute) =>
      minute === undefined
        ? []
        : Array.from(minute.grown(), ({ row: place, ...owner }) => ({
            startMs: minute.startMs,
            place,
            row: { ...owner, ...minute.read(place) },
          })),
    );
  }

  /** When the oldest minute began that has rows to write; undefined when none has. */
  grownSinceMs(): number | undefined {
    const grown = this.#minutes.filter((minute) => minute?.hasGrown === true);
    return grown.length === 0 ? undefined : Math.min(...grown.map((one) => one?.startMs ?? 0));
  }

  /** They were written: from now on they are left out until they grow again. */
  written(rows: readonly GrownMinute[]): void {
    for (const { startMs, place, row } of rows) {
      const minute = this.#minutes[(startMs / minuteMs) % minutesKept];
      if (minute?.startMs === startMs) minute.written(place, row.receipts);
    }
  }

  usage(query: UsageQuery, nowMs: number): readonly UsagePoint[] {
    const sums = new UsageSums();
    const oldestMs = toMinute(nowMs) - minutesMs + minuteMs;
    const fromMs = Math.max(toMinute(query.fromMs), oldestMs);
    for (const minute of this.#minutes) {
      if (minute === undefined || minute.startMs < fromMs || minute.startMs >= query.toMs) continue;
      const startMs = query.isWhole === true ? query.fromMs : minute.startMs;
      for (const { row, ...owner } of minute.all())
        if (isOf(owner, query))
          sums.add({ startMs, name: nameOf(owner, query.by), sums: minute.read(row) });
    }
    return sums.points(query.isWhole === true ? mostListed : mostNames);
  }

  /** Undefined for what is older than all that is kept. */
  #minuteOf(ms: number): MinuteSums | undefined {
    const startMs = toMinute(ms);
    const place = (startMs / minuteMs) % minutesKept;
    const known = this.#minutes[place];
    if (known?.startMs === startMs) return known;
    if (known !== undefined && known.startMs > startMs) return undefined;
    this.#rows -= known?.rows ?? 0;
    const fresh = new MinuteSums(startMs);
    this.#minutes[place] = fresh;
    return fresh;
  }

  #rowOf(minute: MinuteSums, of: MinuteOwner): number {
    const known = minute.find(of.keyId, of.model);
    if (known !== undefined) return known;
    if (this.#rows < this.#maxRows) return this.#open(minute, of);
    const others = { accountId: of.accountId, keyId: placeOf(of.accountId), model: othersName };
    const ofAccount = minute.find(others.keyId, othersName);
    if (ofAccount !== undefined) return ofAccount;
    if (this.#rows < 2 * this.#maxRows) return this.#open(minute, others);
    const all = { accountId: othersName, keyId: placeOf(othersName), model: othersName };
    return minute.find(all.keyId, othersName) ?? this.#open(minute, all);
  }

  #open(minute: MinuteSums, of: MinuteOwner): number {
    this.#rows++;
    return minute.open(of);
  }
}

/** Among the keys, but not the id of one: those begin with another word. */
const placeOf = (accountId: string) => `${othersName} ${accountId}`;

export const toMinute = (ms: number) => ms - (ms % minuteMs);

function isOf(row: MinuteOwner, { accountId, keyId, model }: UsageQuery): boolean {
  return (
    (accountId === undefined || accountId === row.accountId) &&
    (keyId === undefined || keyId === row.keyId) &&
    (model === undefined || model === row.model)
  );
}

function nameOf(row: MinuteOwner, by: UsageGroup): string {
  switch (by) {
    case "none":
      return "";
    case "model":
      return row.model;
    case "key":
      return row.keyId.startsWith(othersName) ? othersName : row.keyId;
    case "account":
      return row.accountId;
    default:
      return by satisfies never;
  }
}
