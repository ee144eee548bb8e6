import { afterEach, beforeEach } from "bun:test";
import { Lender } from "../../src/ledger/lender.ts";
import { Pot } from "../../src/ledger/purse.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { createLeaseStore } from "../../src/store/postgres/ledger/leases.ts";
import { createLedgerStore } from "../../src/store/postgres/ledger/ledger.ts";
import { LedgerWriter } from "../../src/store/postgres/ledger/writer.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { SumsMark } from "../../src/store/postgres/reports/sums-mark.ts";
import { auditOf } from "../store/audit-sample.ts";
import { entryOf } from "../store/ledger-samples.ts";
import { createMigratedDatabase } from "./empty-postgres.ts";
import { dropDatabase } from "./postgres.ts";

export interface LeaseNode {
  readonly postgres: Postgres;
  readonly fleet: PostgresFleet;
  readonly epoch: number;
  readonly ledger: LedgerStore;
  readonly lender: Lender;
  readonly told: Receipt[];
  /** Monotonic time, as this process sees it. */
  readonly time: { ms: number };
  isClosed: boolean;
}

export const goneAfterMs = 60_000;
export const load = { calls: 0, memoryMb: 0, cpuMs: 0 };
let url: string;
let nodes: LeaseNode[];

const noRollups = {} as LedgerStore["rollups"];

export async function openNode(name: string, instance = name): Promise<LeaseNode> {
  const postgres = await openPostgres({ url });
  const time = { ms: 0 };
  const elapsedMs = () => time.ms;
  const { pool, db } = postgres;
  const fleet = new PostgresFleet({ pool, db, goneAfterMs, elapsedMs });
  const { epoch } = await fleet.join({ name, instance, version: "0", address: "", pid: 1 });
  const told: Receipt[] = [];
  const writer = new LedgerWriter({
    pool: postgres.pool,
    epoch,
    mark: new SumsMark(),
    onReceipt: (receipt) => told.push(receipt),
    onClosed: () => {
      node.isClosed = true;
    },
    nowMs: () => 1_000,
  });
  const ledger = createLedgerStore({
    pool: postgres.pool,
    commit: (writes) => writer.commit(writes),
    watch: () => {},
    rollups: noRollups,
  });
  const lender = new Lender(createLeaseStore(postgres.pool, epoch));
  const node: LeaseNode = { postgres, fleet, epoch, ledger, lender, told, time, isClosed: false };
  nodes.push(node);
  return node;
}

/** The database's clock is set: to it, all that was written was written so much earlier. */
export async function setClockForward(node: LeaseNode, by: string): Promise<void> {
  const text = "update heartbeats set renewed_at = renewed_at - $1::interval";
  await node.postgres.pool.query(text, [by]);
}

/** Ticks of processes, much faster than real ones, until the work is done. */
export async function whileTicking<T>(
  ticking: readonly LeaseNode[],
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    for (const { fleet, lender } of ticking)
      fleet.tick(load, 0).then(
        ({ recalls }) => lender.tick(recalls).catch(() => {}),
        () => {},
      );
  }, 30);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** A fresh database with two accounts for each test. */
export function useLeases(): void {
  beforeEach(async () => {
    nodes = [];
    url = await createMigratedDatabase();
    const postgres = await openPostgres({ url });
    await postgres.pool.query(
      "insert into accounts (id, name, created_at_ms) values ('acct_1', 'one', 1), ('acct_2', 'two', 1)",
    );
    await postgres.close();
  });

  afterEach(async () => {
    await Promise.all(nodes.map(({ postgres }) => postgres.close()));
    await dropDatabase(url);
  });
}

/** 500 nano-USD in all, for the first account; the version of its limits from then on. */
export async function setBudget(node: LeaseNode): Promise<number> {
  let version = 0;
  await node.ledger.setLimits({
    owner: { accountId: "acct_1", keyId: undefined },
    limits: { budget: { nano: 500n, period: "total" } },
    audit: auditOf(),
    nowMs: () => Date.now(),
    unwritten: () => 0n,
    onSet: (set) => {
      ({ version } = set);
    },
  });
  return version;
}

export const credit = (node: LeaseNode, nano: bigint, accountId = "acct_1") =>
  node.ledger.addEntry(entryOf({ nano, accountId }), auditOf());

export async function balanceOf(node: LeaseNode, accountId = "acct_1"): Promise<bigint> {
  const { granted = 0n, spent = 0n } = (await node.ledger.lease(accountId)) ?? {};
  return granted - spent;
}

export const potOf = (node: LeaseNode, accountId = "acct_1") => {
  const pot = new Pot(0n);
  node.lender.addAccount(pot, accountId);
  return pot;
};

export const want = (node: LeaseNode, pot: Pot, nano: bigint) =>
  node.lender.cover({ pots: [pot], nano, least: nano, take: hold(pot, nano) });

export const hold = (pot: Pot, nano: bigint) => () => {
  if (pot.free < nano) return undefined;
  pot.held += nano;
  return "held" as const;
};
