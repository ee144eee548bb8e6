import { afterEach, beforeEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, operationsOn } from "../../src/app/store.ts";
import { FeedFollower } from "../../src/base/feed.ts";
import { newId } from "../../src/base/ids.ts";
import { Problem } from "../../src/base/problem.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import type { AccountStore } from "../../src/ledger/account.ts";
import { Minutes } from "../../src/ledger/minutes.ts";
import { Purses } from "../../src/ledger/purses.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { Rollups } from "../../src/ledger/rollups.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { createFactors } from "../../src/people/factors/factors.ts";
import { Passwords } from "../../src/people/passwords.ts";
import { People } from "../../src/people/people.ts";
import { commandLine } from "../../src/platform/audit/author.ts";
import {
  createOperations,
  forActor,
  type Operations,
  type UnboundOperations,
} from "../../src/platform/operations.ts";
import { createSecrets, type Secrets } from "../../src/secrets/secrets.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { cheapPasswords } from "./cheap-passwords.ts";
import { copyEmptyDatabase } from "./empty-database.ts";
import { noExports } from "./no-exports.ts";
import { later } from "./use-platform.ts";

/** The operations on a real store, as a running server has them or as a command that opened it. */
export interface OperationsHome {
  /** The file of its database. */
  readonly path: string;
  readonly store: Store;
  readonly secrets: Secrets;
  /** The time that they go by; tests move it. */
  readonly clock: { ms: number };
  readonly operations: Operations;
  /** The same before it is said who uses them. */
  readonly unbound: UnboundOperations;
  readonly purses: Purses;
  readonly sums: Rollups;
  /** The same without a server: what is written counts, and nothing in memory. */
  readonly alone: Operations;
  /** A command of its own, which opens the data directory as if the server had just died. */
  afterCrash<T>(use: (operations: Operations) => Promise<T>): Promise<T>;
  /** With some of the store's ports replaced. */
  on(replaced: {
    readonly ledger?: Partial<LedgerStore>;
    readonly accounts?: Partial<AccountStore>;
    readonly sync?: () => Promise<void>;
  }): Operations;
  /** Writes a receipt as the gateway would; it is counted in the sums, which are not flushed. */
  receive(receipt: Partial<Receipt> & Pick<Receipt, "accountId" | "keyId">): Promise<void>;
  remove(): Promise<void>;
}

/** A home of its own for each test of a file; it can be named before. */
export function useOperations(prepare: (home: OperationsHome) => Promise<void>): OperationsHome {
  const held: { home?: OperationsHome } = {};
  beforeEach(async () => {
    held.home = await openOperations();
    await prepare(held.home);
  });
  afterEach(() => held.home?.remove());
  return later(() => held.home, "home");
}

export async function openOperations(): Promise<OperationsHome> {
  const dir = mkdtempSync(join(tmpdir(), "svc-operations-"));
  const secrets = createSecrets(masterSecret);
  const path = join(dir, "svc.db");
  copyEmptyDatabase(path);
  const store = await createStore(openSqlite(path), secrets.fingerprint);
  const clock = { ms: Date.parse("2027-03-15T12:00:00Z") };
  const purses = new Purses(store.accounts, store.ledger);
  const rollups = new Rollups(store.ledger.rollups, 900_000);
  await rollups.start(clock.ms);
  store.ledger.watch((receipt) => {
    rollups.add(receipt);
    purses.committed(receipt.id);
  });
  await purses.start(clock.ms);
  const follower = new FeedFollower(store.feed, {
    changed: (changes) => purses.reload(changes.map(({ subject }) => subject)),
    reloadAll: () => purses.reloadAll(),
  });
  await follower.start();
  const parts = {
    ...store,
    ...peopleOf(store, clock, secrets),
    secrets,
    clock: { nowMs: () => clock.ms },
    variable: () => undefined,
    checkAddress: () => undefined,
    isUsable: () => true,
    exporter: noExports,
    engineFile: undefined,
    platformUrl: () => "http://127.0.0.1:8081",
    takeEffect: () => follower.catchUp(),
    money: moneyOf(purses, rollups, clock),
  };
  const unbound = createOperations(parts);
  const bind = (operations: UnboundOperations) =>
    forActor(operations, { actor: commandLine, clock: parts.clock });
  return {
    path,
    store,
    secrets,
    clock,
    purses,
    sums: rollups,
    operations: bind(unbound),
    unbound,
    alone: bind(createOperations({ ...parts, takeEffect: async () => {}, money: undefined })),
    async afterCrash(use) {
      const configuration = loadConfiguration({ SVC_DATA_DIR: dir, SVC_SECRET: masterSecret });
      const opened = await openStore(configuration);
      const takeEffect = async () => {};
      const unbound = operationsOn({ configuration, opened, takeEffect, clock: parts.clock });
      return await use(bind(unbound)).finally(() => opened.close());
    },
    on: ({ ledger, accounts, sync = store.sync }) =>
      bind(
        createOperations({
          ...parts,
          sync,
          ledger: { ...store.ledger, ...ledger },
          accounts: { ...store.accounts, ...accounts },
        }),
      ),
    async receive(given) {
      const receipt: Receipt = { ...emptyReceipt, id: newId("req", clock.ms), ...given };
      await store.ledger.commit([{ type: "receipt", receipt, hold: { budgets: [] } }]);
      const purse = purses.find(receipt.accountId);
      if (purse !== undefined) purse.pot.spent += receipt.charged;
    },
    async remove() {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function moneyOf(purses: Purses, sums: Rollups, clock: { readonly ms: number }) {
  return {
    purses,
    sums,
    flushRollups: () => sums.flush(clock.ms),
    unwrittenSinceMs: (accountId?: string) => sums.unwrittenSinceMs(accountId),
  };
}

function peopleOf(store: Store, clock: { readonly ms: number }, secrets: Secrets) {
  const passwords = new Passwords(cheapPasswords);
  const people = new People(store.people, { nowMs: () => clock.ms }, { passwords });
  return { people, factors: createFactors(people, secrets) };
}

const masterSecret = "a master secret that is long enough for tests";

const emptyReceipt: Omit<Receipt, "id" | "accountId" | "keyId"> = {
  model: "svc-3-flash",
  endpoint: "chat",
  provider: "fake",
  attempts: [],
  priceVersion: 1,
  units: {},
  reasoningTokens: 0,
  estimated: false,
  hold: 0n,
  cost: 0n,
  charged: 0n,
  vendorCost: undefined,
  outcome: "ok",
  firstByteMs: 1,
  durationMs: 1,
};

/** For operations whose sums a thread reads, as in a running server. */
export async function withReports<T>(
  home: OperationsHome,
  account: string,
  use: (dependencies: ReturnType<typeof serverDependencies>) => Promise<T>,
): Promise<T> {
  const dependencies = serverDependencies(home, account);
  return await use(dependencies).finally(() => dependencies.money.reports.close());
}

function serverDependencies(
  { store, purses, sums, operations, clock: now }: OperationsHome,
  account: string,
) {
  const clock = { nowMs: () => now.ms };
  const flushRollups = async () => void (await operations.accounts.show({ account }));
  const reports = store.openReports({ clock, flush: flushRollups, minutes: new Minutes() });
  const takeEffect = async () => {};
  const unwrittenSinceMs = () => sums.unwrittenSinceMs();
  const money = { purses, sums, flushRollups, unwrittenSinceMs, reports };
  return { ...store, clock, takeEffect, money };
}

/** What an operation was refused with. */
export async function problemOf(
  work: Promise<unknown>,
): Promise<Pick<Problem, "code" | "message" | "field">> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem)
      return { code: error.code, message: error.message, field: error.field };
    throw error;
  }
  throw new Error("it was not refused");
}
