import { idTimeMs } from "../../base/ids.ts";
import type { Receipt } from "../receipt.ts";
import {
  addTo,
  emptyRollup,
  emptySums,
  isFolded,
  mergeInto,
  type Rollup,
  type Sums,
  toDay,
  toHour,
} from "../rollups.ts";
import { type StoredSums, type TotalGroup, totalGroups } from "../store.ts";
import type { Problems } from "./problems.ts";

type RollupKey = Omit<Rollup, keyof Sums>;

const rollupName = ({ hourMs, accountId, keyId, model, provider }: RollupKey) =>
  JSON.stringify([hourMs, accountId, keyId, model, provider]);

const sumKeys = [
  "receipts",
  "failures",
  "inputTokens",
  "outputTokens",
  "cost",
  "charged",
  "vendorCost",
  "vendorKnown",
  "chargedKnown",
] as const;
const endKeys = ["shortestMs", "longestMs", "shortestFirstByteMs", "longestFirstByteMs"] as const;
const countKeys = ["durations", "firstBytes"] as const;

/** The sums of the receipts by hour, added up anew. */
export class RollupSums {
  readonly #openFromMs: number;
  readonly #countedFromMs: number;
  readonly #sums = new Map<string, Rollup>();

  constructor(stored: Pick<StoredSums, "openFromMs" | "countedFromMs">) {
    this.#openFromMs = stored.openFromMs ?? Number.POSITIVE_INFINITY;
    this.#countedFromMs = stored.countedFromMs;
  }

  add(receipt: Receipt): void {
    const { accountId, keyId, model, provider } = receipt;
    const hourMs = toHour(idTimeMs(receipt.id));
    const of = { hourMs, accountId, keyId, model, provider };
    const name = rollupName(of);
    const known = this.#sums.get(name) ?? emptyRollup(of);
    this.#sums.set(name, known);
    addTo(known, receipt);
  }

  compare(stored: readonly Rollup[], problems: Problems): void {
    const found = new Map(stored.map((rollup) => [rollupName(rollup), rollup]));
    for (const name of new Set([...this.#sums.keys(), ...found.keys()])) {
      const of = this.#sums.get(name) ?? found.get(name);
      if (of === undefined) continue;
      const { hourMs, keyId, model, provider } = of;
      compareSums({
        kind: "rollup",
        subject: `${new Date(hourMs).toISOString().slice(0, 13)} ${keyId} ${model} ${provider}`,
        expected: this.#sums.get(name) ?? emptySums(),
        found: found.get(name) ?? emptySums(),
        // A sum that is still open may lack receipts; it never has more than there are.
        mayLack: hourMs >= this.#openFromMs,
        hasCounts: hourMs >= this.#countedFromMs,
        problems,
      });
    }
  }
}

/** Sums by day and totals are made of those rows alone that are told to be in them. */
export function checkFolded(stored: StoredSums, problems: Problems): void {
  const expected = new Map<string, Sums>();
  const add = (name: string, sums: Sums) => {
    const known = expected.get(name) ?? emptySums();
    expected.set(name, known);
    mergeInto(known, sums);
  };
  for (const rollup of stored.list) {
    const { hourMs, accountId, keyId, model, provider } = rollup;
    if (!isFolded(rollup, stored.foldedTo)) continue;
    const dayMs = toDay(hourMs);
    add(dayName({ hourMs: dayMs, accountId, keyId, model, provider }), rollup);
    const names: Readonly<Record<TotalGroup, string>> = { model, account: accountId, key: keyId };
    for (const by of totalGroups) {
      add(totalName({ grain: "hour", by, startMs: hourMs, name: names[by] }), rollup);
      add(totalName({ grain: "day", by, startMs: dayMs, name: names[by] }), rollup);
    }
  }
  const found = new Map<string, Sums>();
  for (const day of stored.days) found.set(dayName(day), day);
  for (const total of stored.totals) found.set(totalName(total), total);
  for (const subject of new Set([...expected.keys(), ...found.keys()]))
    compareSums({
      kind: "folded",
      subject,
      expected: expected.get(subject) ?? emptySums(),
      found: found.get(subject) ?? emptySums(),
      mayLack: false,
      hasCounts: true,
      problems,
    });
}

const dayName = ({ hourMs, accountId, keyId, model, provider }: RollupKey) =>
  `${new Date(hourMs).toISOString().slice(0, 10)} ${accountId} ${keyId} ${model} ${provider}`;

function totalName(of: {
  readonly grain: "hour" | "day";
  readonly by: TotalGroup;
  readonly startMs: number;
  readonly name: string;
}): string {
  const start = new Date(of.startMs).toISOString().slice(0, of.grain === "hour" ? 13 : 10);
  return `${of.grain} ${start} ${of.by} ${of.name}`;
}

function compareSums(options: {
  readonly kind: string;
  readonly subject: string;
  readonly expected: Sums;
  readonly found: Sums;
  readonly mayLack: boolean;
  readonly hasCounts: boolean;
  readonly problems: Problems;
}): void {
  const { kind, subject, expected, found, mayLack, hasCounts, problems } = options;
  for (const key of sumKeys) {
    if (mayLack && found[key] <= expected[key]) continue;
    const [want, have] = [expected[key], found[key]];
    problems.compare({ kind: `${kind} ${key}`, subject, expected: want, found: have });
  }
  if (hasCounts) compareTimes(options);
}

function compareTimes(options: Omit<Parameters<typeof compareSums>[0], "hasCounts">): void {
  const { kind, subject, expected, found, mayLack, problems } = options;
  for (const key of endKeys) {
    const [want, have] = [expected[key], found[key]];
    const isWithin = key.startsWith("shortest") ? have >= want : have <= want;
    if (mayLack ? isWithin : have === want) continue;
    problems.add({ kind: `${kind} ${key}`, subject, expected: String(want), found: String(have) });
  }
  for (const key of countKeys) {
    const isRight = expected[key].every((count, at) => {
      const have = found[key][at] ?? 0;
      return mayLack ? have <= count : have === count;
    });
    if (isRight) continue;
    const [want, have] = [expected[key].join(" "), found[key].join(" ")];
    problems.add({ kind: `${kind} ${key}`, subject, expected: want, found: have });
  }
}
