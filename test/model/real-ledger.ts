import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ApiError } from "../../src/base/errors.ts";
import { FeedFollower } from "../../src/base/feed.ts";
import { createLog } from "../../src/base/log.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import { priceAt } from "../../src/catalog/model.ts";
import { ActiveCall, ActiveCalls } from "../../src/gateway/active-calls.ts";
import { LedgerBilling } from "../../src/gateway/billing/billing.ts";
import type { Charge } from "../../src/gateway/billing/charge.ts";
import type { GatewayDependencies } from "../../src/gateway/dependencies.ts";
import { Exchange } from "../../src/gateway/exchange.ts";
import { Idempotency } from "../../src/gateway/idempotency.ts";
import { BodyBytes } from "../../src/gateway/request/body-bytes.ts";
import { KeyDirectory } from "../../src/keys/directory.ts";
import { Journal } from "../../src/ledger/journal.ts";
import { needOf } from "../../src/ledger/need.ts";
import type { BudgetPot } from "../../src/ledger/purse.ts";
import { Purses } from "../../src/ledger/purses.ts";
import { Rollups } from "../../src/ledger/rollups.ts";
import { type LedgerStore, NotSyncedError } from "../../src/ledger/store.ts";
import { ReasoningUse } from "../../src/ledger/tokens/reasoning.ts";
import { TokenCounter } from "../../src/ledger/tokens/token-counter.ts";
import { type LedgerFindings, verifyLedger } from "../../src/ledger/verify/verify.ts";
import { Limiter } from "../../src/limits/limiter.ts";
import { createFactors } from "../../src/people/factors/factors.ts";
import { Passwords } from "../../src/people/passwords.ts";
import { People } from "../../src/people/people.ts";
import type { RunningMoney } from "../../src/platform/accounts/funds.ts";
import { commandLine } from "../../src/platform/audit/author.ts";
import { createOperations, forActor, type Operations } from "../../src/platform/operations.ts";
import { Router } from "../../src/router/router.ts";
import { createSecrets, type Secrets } from "../../src/secrets/secrets.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";
import { openSqlite, type Sqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { cheapPasswords } from "../setup/cheap-passwords.ts";
import { noExports } from "../setup/no-exports.ts";
import type { PlainNeed } from "./plain-ledger.ts";

export const maxCallMs = 900_000;
const secrets: Secrets = createSecrets("a secret of more than thirty-two characters");
const log = createLog({ level: "silent", pretty: false, write: () => {} });
const patienceMs = 1_000;

/** A disk that can be told to fail. */
class Disk {
  mode: "works" | "fails" | "unsure" | "gone" = "works";
  readonly #commit: LedgerStore["commit"];
  #waiters: (() => void)[] = [];

  constructor(commit: LedgerStore["commit"]) {
    this.#commit = commit;
  }

  readonly commit: LedgerStore["commit"] = async (writes) => {
    // A try ends as it began, whatever the disk is told meanwhile.
    const { mode } = this;
    if (mode === "gone") return new Promise(() => {});
    try {
      if (mode === "fails") throw new Error("the disk is full");
      await this.#commit(writes);
      if (mode === "unsure") throw new NotSyncedError("not confirmed", { cause: "the disk" });
    } finally {
      // Of a try that had begun before they came, too: it may be the last one that there is.
      const waiters = this.#waiters;
      this.#waiters = [];
      // After the journal has dealt with the answer.
      setImmediate(() => {
        for (const resolve of waiters) resolve();
      });
    }
  };

  /** Resolves when a try that goes on, or the next one, has its answer and the journal knows it. */
  tried(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }
}

export interface AdmitInput {
  /** The key as its owner has it. */
  readonly secret: string;
  readonly model: string;
  readonly need: PlainNeed;
  readonly exchange: Exchange;
}

/** The real parts, put together as the server does, without its listeners. */
export class RealLedger {
  readonly disk: Disk;
  readonly operations: Operations;
  readonly purses: Purses;
  readonly journal: Journal;
  readonly store: Store;
  readonly #sqlite: Sqlite;
  readonly #dependencies: GatewayDependencies;
  readonly #billing: LedgerBilling;
  readonly #rollups: Rollups;
  readonly #follower: FeedFollower;
  #journalMs = 0;

  private constructor(sqlite: Sqlite, store: Store, clock: { nowMs(): number }) {
    this.#sqlite = sqlite;
    this.disk = new Disk(store.ledger.commit);
    this.store = { ...store, ledger: { ...store.ledger, commit: this.disk.commit } };
    const { accounts, ledger } = this.store;
    this.#rollups = new Rollups(ledger.rollups, maxCallMs);
    ledger.watch((receipt) => {
      this.#rollups.add(receipt);
      this.purses.committed(receipt.id);
    });
    this.purses = new Purses(accounts, ledger);
    this.journal = new Journal({
      store: ledger,
      log,
      nowMs: () => this.#journalMs,
      patienceMs,
      retryMs: 1,
    });
    const catalog = new Catalog(store.catalog);
    const keys = new KeyDirectory(store.keys, secrets.keyHashKey);
    this.#follower = followerOf(store, this.purses, keys, catalog);
    const limiter = new Limiter();
    this.#billing = new LedgerBilling({
      purses: this.purses,
      limiter,
      journal: this.journal,
      clock,
      log,
      creditAdvice: () => "",
    });
    this.#dependencies = {
      keys,
      catalog,
      router: new Router({ findProvider: () => undefined }),
      calls: new ActiveCalls({ ...callLimits, maxCallMs }),
      purses: this.purses,
      billing: this.#billing,
      limiter,
      journal: this.journal,
      idempotency: new Idempotency({ ledger, journal: this.journal }),
      counter: new TokenCounter(),
      reasoning: new ReasoningUse(),
      bodies: new BodyBytes({ perProcess: 2 ** 30, perKey: 2 ** 30 }),
      clock,
      log,
      replyCounter: { count: () => {}, countRejection: () => {} },
      rejections: { add: () => {} },
      responses: undefined,
      origins: new Set(),
      publicUrl: () => "",
    };
    this.operations = operationsOn(this.store, clock, {
      money: {
        purses: this.purses,
        sums: this.#rollups,
        flushRollups: () => this.flush(),
        unwrittenSinceMs: (accountId) => this.#rollups.unwrittenSinceMs(accountId),
      },
      takeEffect: () => this.#follower.catchUp(),
    });
  }

  static async open(path: string, clock: { nowMs(): number }): Promise<RealLedger> {
    const sqlite = openSqlite(path);
    const real = new RealLedger(sqlite, await createStore(sqlite, secrets.fingerprint), clock);
    await real.store.ledger.releaseRunningClaims();
    await real.#rollups.start(clock.nowMs());
    await real.purses.start(clock.nowMs());
    await real.#follower.start();
    return real;
  }

  /** What the operator does while no server runs. */
  static async atRest(
    path: string,
    clock: { nowMs(): number },
    use: (operations: Operations) => Promise<void>,
  ): Promise<void> {
    const store = await createStore(openSqlite(path), secrets.fingerprint);
    // As src/app/store.ts does.
    const openFromMs = await store.ledger.rollups.openFromMs();
    if (openFromMs !== undefined) await store.ledger.rollups.recount(openFromMs);
    const takeEffect = () => Promise.resolve();
    await use(operationsOn(store, clock, { takeEffect })).finally(() => store.close());
  }

  /** Those that a process which is gone has left. */
  static async receiptIds(path: string): Promise<ReadonlySet<string>> {
    const reader = openLedgerReader(path);
    const ids = new Set<string>();
    for await (const { id } of reader.receipts({})) ids.add(id);
    await reader.close();
    return ids;
  }

  flush(): Promise<void> {
    return this.#rollups.flush(this.#dependencies.clock.nowMs());
  }

  /** A request has come; its body has not. */
  begin(): Exchange {
    const request = new Request("http://gateway/v1/chat/completions", { method: "POST" });
    return new Exchange(request, this.#dependencies.clock.nowMs(), this.#dependencies);
  }

  /** A charge, or the code of the refusal. */
  admit({ secret, model: id, need, exchange }: AdmitInput): Charge | string {
    const nowMs = this.#dependencies.clock.nowMs();
    const key = this.#dependencies.keys.verify(secret, nowMs);
    const model = this.#dependencies.catalog.findServed(id, nowMs);
    const pricing = model && priceAt(model, nowMs);
    if (key === undefined || model === undefined || pricing === undefined)
      throw new Error("the key or the model is unknown");
    const call = new ActiveCall({ ...callLimits, maxCallMs }, nowMs);
    try {
      const purse = atOnce(this.#billing.enter(exchange, key));
      const charge = this.#billing.reserve(
        {
          exchange,
          key,
          purse,
          model,
          pricing,
          claim: undefined,
          call,
        },
        needOf({
          units: { input: need.input, choices: need.choices },
          price: pricing.price,
          cap: need.cap,
          isCapNamed: need.isCapNamed,
        }),
        need.input,
      );
      return atOnce(charge);
    } catch (error) {
      exchange.leave();
      if (error instanceof ApiError) return error.code;
      throw error;
    }
  }

  /** Time passes for those who wait; resolves when the journal has noticed. */
  async losePatience(): Promise<void> {
    this.#journalMs += patienceMs;
    await this.disk.tried();
    await this.disk.tried();
  }

  /** The budget of an account or a key in the period of this moment. */
  budgetPot(owner: { readonly id: string; readonly secret: string | undefined }): BudgetPot {
    const nowMs = this.#dependencies.clock.nowMs();
    const record =
      (owner.secret === undefined
        ? this.purses.find(owner.id)?.account
        : this.#dependencies.keys.verify(owner.secret, nowMs)) ?? {};
    const pot = this.purses.budgetOf(owner.id, record, nowMs);
    if (pot === undefined) throw new Error(`${owner.id} has no budget in memory`);
    return pot;
  }

  verify(): Promise<LedgerFindings> {
    const reader = openLedgerReader(this.#sqlite.path);
    return verifyLedger(reader).finally(() => reader.close());
  }

  one<T>(sql: string, ...values: readonly (string | number)[]): T | null {
    return this.#sqlite.raw
      .query<T, (string | number)[]>(sql)
      .safeIntegers(true)
      .get(...values);
  }

  /** The files as they are, as a power cut would leave them. */
  copyTo(folder: string): string {
    mkdirSync(folder, { recursive: true });
    const copy = join(folder, "svc.db");
    for (const end of ["", "-wal"])
      if (existsSync(this.#sqlite.path + end)) copyFileSync(this.#sqlite.path + end, copy + end);
    return copy;
  }

  get path(): string {
    return this.#sqlite.path;
  }

  /** The process is gone: nothing that only memory has is written any more. */
  async die(): Promise<void> {
    this.disk.mode = "gone";
    await this.#dependencies.calls.drain(0);
    this.#dependencies.counter.close();
    await this.store.close();
  }
}

function operationsOn(
  store: Store,
  clock: { nowMs(): number },
  running: { readonly money?: RunningMoney; readonly takeEffect: () => Promise<void> },
): Operations {
  const people = new People(store.people, clock, { passwords: new Passwords(cheapPasswords) });
  const unbound = createOperations({
    ...store,
    ...running,
    people,
    factors: createFactors(people, secrets),
    secrets,
    clock,
    variable: () => undefined,
    checkAddress: () => undefined,
    isUsable: () => true,
    exporter: noExports,
    engineFile: undefined,
    platformUrl: () => "http://127.0.0.1:8081",
  });
  return forActor(unbound, { actor: commandLine, clock });
}

const callLimits = {
  connectMs: 10_000,
  firstByteMs: 60_000,
  idleMs: 60_000,
  readerMs: 60_000,
  keepAliveMs: 10_000,
};

function followerOf(
  store: Store,
  purses: Purses,
  keys: KeyDirectory,
  catalog: Catalog,
): FeedFollower {
  return new FeedFollower(store.feed, {
    async changed(changes) {
      for (const { topic, subject } of changes) {
        if (topic === "keys") await keys.reload([subject]);
        if (topic === "accounts") await purses.reload([subject]);
        if (topic === "catalog") await catalog.reload();
      }
    },
    async reloadAll() {
      await purses.reloadAll();
      await keys.reloadAll();
      await catalog.reload();
    },
  });
}

/** Limits of one process are in memory: nothing is waited for. */
function atOnce<T>(answer: T | Promise<T>): T {
  if (answer instanceof Promise) throw new Error("the limits were not checked at once");
  return answer;
}
