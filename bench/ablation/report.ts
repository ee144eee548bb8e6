/** From the CPU time of every gateway and round to the cost of each part. */
import { aligned, cell, type Spread, spreadOf } from "../gateway/report.ts";
import { labelOf, parts } from "./parts.ts";

const sides = ["before", "after"] as const;
/** `before` is the other checkout. */
export type Side = (typeof sides)[number];

/** CPU µs per request, by round. */
export type Rounds = readonly number[];

export interface Measured {
  readonly bare: Rounds;
  /** By side, then by how many parts the gateway lacks, the whole one first. */
  readonly chains: Partial<Record<Side, ReadonlyMap<number, Rounds>>>;
}

interface Row {
  readonly label: string;
  readonly sides: Partial<Record<Side, Spread>>;
  /** After minus before, within the rounds. */
  readonly change: Spread | undefined;
}

/** The rounds of several starts, one after the other. */
export function joined(starts: readonly Measured[]): Measured {
  const chains: Partial<Record<Side, Map<number, Rounds>>> = {};
  for (const start of starts)
    for (const side of sides)
      for (const [count, rounds] of start.chains[side] ?? []) {
        const chain = (chains[side] ??= new Map());
        chain.set(count, [...(chain.get(count) ?? []), ...rounds]);
      }
  return { bare: starts.flatMap(({ bare }) => bare), chains };
}

/** From the bare proxy to the whole gateway; what stands between is what each part adds. */
export function rowsOf({ bare, chains }: Measured): readonly Row[] {
  const counts = [...(chains.after?.keys() ?? [])].toSorted((one, other) => other - one);
  const [most = parts.length] = counts;
  const ofChain = (count: number) => (side: Side) => chains[side]?.get(count);
  const added = counts.slice(1).map((count, at) => {
    const smaller = counts[at] ?? most;
    return row(labelOf(count, smaller), (side) =>
      difference(chains[side]?.get(count), chains[side]?.get(smaller)),
    );
  });
  return [
    row("bare proxy", (side) => (chains[side] === undefined ? undefined : bare)),
    row("the rest of the gateway, compared with the bare proxy", (side) =>
      difference(ofChain(most)(side), bare),
    ),
    ...added,
    row("whole gateway", ofChain(0)),
  ];
}

export function table(measured: Measured): string {
  const rows = rowsOf(measured);
  if (measured.chains.before === undefined)
    return aligned([
      ["part", "CPU µs per request"],
      ...rows.map(({ label, sides }) => [label, cell(sides.after, 1)]),
    ]);
  return aligned([
    ["part", "before", "after", "change"],
    ...rows.map(({ label, sides, change }) => [
      label,
      cell(sides.before, 1),
      cell(sides.after, 1),
      cell(change, 1),
    ]),
  ]);
}

function row(label: string, read: (side: Side) => Rounds | undefined): Row {
  const [before, after] = [read("before"), read("after")];
  const sides: Row["sides"] = {
    ...spread("before", before),
    ...spread("after", after),
  };
  const changed = difference(after, before);
  return { label, sides, change: changed && spreadOf(changed) };
}

function spread(side: Side, rounds: Rounds | undefined): Row["sides"] {
  const found = rounds && spreadOf(rounds);
  return found === undefined ? {} : { [side]: found };
}

function difference(more: Rounds | undefined, less: Rounds | undefined): Rounds | undefined {
  return more && less && more.map((value, round) => value - (less[round] ?? Number.NaN));
}
