import { idTimeMs } from "../base/ids.ts";
import type { Receipt } from "./receipt.ts";
import {
  mostListed,
  mostNames,
  othersName,
  type UsageGroup,
  type UsagePoint,
  type UsageQuery,
} from "./reports.ts";
import { addTo, emptySums, mergeInto, type Sums } from "./rollups.ts";
import { UsageSums } from "./usage-sums.ts";

export const minuteMs = 60_000;
/** The current one, and sixty that are over. */
const minutesKept = 61;
export const minutesMs = minutesKept * minuteMs;
/** Beyond these, the rest is told apart by account alone, and beyond twice as many not at all. */
const maxRows = 20_000;

/** Sums of the receipts of one account, key and model that began within one minute. */
export interface MinuteRow extends Sums {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
}

interface Minute {
  startMs: number;
  rows: number;
  /** By key, then by model: nothing is made to look one up. A key is of one account. */
  byKey: Map<string, Map<string, MinuteRow>>;
}

/** The last hour by minutes, in memory: what charts that move are drawn from. */
export class Minutes {
  readonly #minutes: Minute[] = Array.from({ length: minutesKept }, () => ({
    startMs: Number.NEGATIVE_INFINITY,
    rows: 0,
    byKey: new Map(),
  }));
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
    if (minute !== undefined) addTo(this.#rowOf(minute, receipt), receipt);
  }

  /** What an earlier process wrote of a minute. */
  addRow(startMs: number, row: MinuteRow): void {
    const minute = this.#minuteOf(startMs);
    if (minute !== undefined) mergeInto(this.#rowOf(minute, row), row);
  }

  usage(query: UsageQuery, nowMs: number): readonly UsagePoint[] {
    const sums = new UsageSums();
    const oldestMs = toMinute(nowMs) - minutesMs + minuteMs;
    const fromMs = Math.max(toMinute(query.fromMs), oldestMs);
    for (const { startMs, byKey } of this.#minutes) {
      if (startMs < fromMs || startMs >= query.toMs) continue;
      for (const rows of byKey.values())
        for (const row of rows.values())
          if (isOf(row, query))
            sums.add({
              startMs: query.isWhole === true ? query.fromMs : startMs,
              name: nameOf(row, query.by),
              sums: row,
            });
    }
    return sums.points(query.isWhole === true ? mostListed : mostNames);
  }

  /** Undefined for what is older than all that is kept. */
  #minuteOf(ms: number): Minute | undefined {
    const startMs = toMinute(ms);
    const minute = this.#minutes[(startMs / minuteMs) % minutesKept];
    if (minute === undefined || minute.startMs > startMs) return undefined;
    if (minute.startMs === startMs) return minute;
    this.#rows -= minute.rows;
    minute.startMs = startMs;
    minute.rows = 0;
    minute.byKey = new Map();
    return minute;
  }

  #rowOf(minute: Minute, of: Pick<MinuteRow, "accountId" | "keyId" | "model">): MinuteRow {
    const known = minute.byKey.get(of.keyId)?.get(of.model);
    if (known !== undefined) return known;
    if (this.#rows < this.#maxRows) return this.#newRow(minute, of.keyId, of);
    const others = minute.byKey.get(placeOf(of.accountId))?.get(othersName);
    if (others !== undefined) return others;
    const accountId = this.#rows < 2 * this.#maxRows ? of.accountId : othersName;
    const place = placeOf(accountId);
    return (
      minute.byKey.get(place)?.get(othersName) ??
      this.#newRow(minute, place, { accountId, keyId: othersName, model: othersName })
    );
  }

  #newRow(
    minute: Minute,
    place: string,
    { accountId, keyId, model }: Pick<MinuteRow, "accountId" | "keyId" | "model">,
  ): MinuteRow {
    const row: MinuteRow = { accountId, keyId, model, ...emptySums() };
    const rows = minute.byKey.get(place) ?? new Map<string, MinuteRow>();
    minute.byKey.set(place, rows.set(model, row));
    minute.rows++;
    this.#rows++;
    return row;
  }
}

/** Among the keys, but not the id of one: those begin with another word. */
const placeOf = (accountId: string) => `${othersName} ${accountId}`;

const toMinute = (ms: number) => ms - (ms % minuteMs);

function isOf(row: MinuteRow, { accountId, keyId, model }: UsageQuery): boolean {
  return (
    (accountId === undefined || accountId === row.accountId) &&
    (keyId === undefined || keyId === row.keyId) &&
    (model === undefined || model === row.model)
  );
}

function nameOf(row: MinuteRow, by: UsageGroup): string {
  switch (by) {
    case "none":
      return "";
    case "model":
      return row.model;
    case "key":
      return row.keyId;
    case "account":
      return row.accountId;
    default:
      return by satisfies never;
  }
}
