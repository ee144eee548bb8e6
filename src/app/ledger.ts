import { type Clock, nextTurn } from "../base/clock.ts";
import { earliest } from "../base/dates.ts";
import type { Log } from "../base/log.ts";
import { KeyUses } from "../keys/uses.ts";
import { Journal, type Unconfirmed } from "../ledger/journal.ts";
import { Lender } from "../ledger/lender.ts";
import { Minutes } from "../ledger/minutes.ts";
import { ProviderFailures } from "../ledger/provider-failures.ts";
import { Purses } from "../ledger/purses.ts";
import type { Receipt } from "../ledger/receipt.ts";
import type { LedgerReports } from "../ledger/reports.ts";
import { Rollups } from "../ledger/rollups.ts";
import { FencedError, type LostTail } from "../ledger/store.ts";
import { ReasoningUse } from "../ledger/tokens/reasoning.ts";
import { TokenCounter } from "../ledger/tokens/token-counter.ts";
import { Limiter } from "../limits/limiter.ts";
import type { RequestLimiter } from "../limits/request-limiter.ts";
import { SharedLimiter } from "../limits/shared/shared-limiter.ts";
import type { RejectionReports } from "../rejections/rejection.ts";
import type { Store } from "../store/store.ts";
import type { Opened, SharedProcesses } from "./opened.ts";
import { openRejections, type RunningRejections } from "./rejections.ts";
import { refuseBelowZero } from "./store.ts";

/** The money of a running server: admits calls and charges them. */
export interface Money {
  readonly purses: Purses;
  readonly limiter: RequestLimiter;
  /** Where accounts are shared with other processes. */
  readonly lender: Lender | undefined;
  readonly journal: Journal;
  readonly counter: TokenCounter;
  readonly reasoning: ReasoningUse;
  readonly keyUses: KeyUses;
  /** Called for every committed receipt, between two calls, so they must be fast. */
  readonly receiptWatchers: Set<(receipt: Receipt) => void>;
  readonly reports: LedgerReports & RejectionReports;
  /** Calls that were refused: no money, but written between the receipts. */
  readonly rejections: RunningRejections["recorder"];
  flushRollups(): Promise<void>;
  /** For a report: what is not in the store yet, and no more. */
  writeSums(): Promise<void>;
  /** Since when the store's sums lack receipts of an account, or of any; undefined when they lack none. */
  unwrittenSinceMs(accountId?: string): number | undefined;
  readonly sums: Pick<Rollups, "betweenWrites">;
  /** After the last call: everything is written. */
  close(withinMs?: number): Promise<void>;
}

export interface MoneyOptions {
  readonly store: Store;
  readonly maxCallMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Left open at the end: it has other users. Default: one of its own. */
  readonly sharedCounter?: TokenCounter | undefined;
  readonly reportLimitMs?: number | undefined;
  /** Where other processes share the database. */
  readonly shared?: SharedProcesses | undefined;
}

/** Reports flush at once; this is for everything else. */
const flushEveryMs = 60_000;
const eraseEveryMs = 60_000;
/** A database that was moved or taken over is detected within this time, even without calls. */
const checkEveryMs = 1_000;
/** A commit to a shared database is a round trip: it holds up nobody, and may carry more. */
const sharedBatch = 128;
/** How long shutdown waits for a failing store. Callers already got an error for these calls. */
const closeWithinMs = 6_000;
/** Of that time, for what is in line; what is left in line then is logged. */
const waitingShare = 0.8;

export async function openMoney({
  store,
  maxCallMs,
  clock,
  log,
  sharedCounter,
  reportLimitMs: limitMs,
  shared,
}: MoneyOptions): Promise<Money> {
  const { ledger, accounts } = store;
  const rollups = new Rollups(ledger.rollups, maxCallMs);
  // Calls of a dead process cost nothing, so their keys can be used again.
  await ledger.releaseRunningClaims();
  await rollups.start(clock.nowMs());
  const minutes = new Minutes();
  const reasoning = new ReasoningUse();
  for (const counted of await ledger.recentCounts()) reasoning.note(counted);
  const keyUses = new KeyUses(store.keys);
  const providerFailures = new ProviderFailures(store.providerFailures);
  const node = shared?.node;
  const lender = node && new Lender(node.leases);
  const purses = new Purses(accounts, ledger, lender);
  // The accounts are read with the keys, once the place in the change feed is known.
  await purses.readSpends(clock.nowMs());
  const receiptWatchers = new Set<(receipt: Receipt) => void>([
    (receipt) => rollups.add(receipt),
    (receipt) => minutes.add(receipt),
    (receipt) => reasoning.note(receipt),
    ({ keyId, id }) => keyUses.add(keyId, id),
    ({ id }) => purses.committed(id),
    (receipt) => providerFailures.add(receipt),
  ]);
  ledger.watch((receipt) => {
    for (const tell of receiptWatchers) tell(receipt);
  });
  const journal = new Journal({ store: ledger, log, ...(node && { maxBatch: sharedBatch }) });
  const limiter = node === undefined ? new Limiter() : new SharedLimiter(node.permits);
  const counter = sharedCounter ?? new TokenCounter();
  const tell = (what: string) => (error: unknown) => {
    // Logged once, by whenTakenOver.
    if (!(error instanceof FencedError)) log.warn(what, { detail: String(error) });
  };
  const flushRollups = async () => {
    await rollups.flush(clock.nowMs());
    await node?.minutes.write(minutes, clock.nowMs());
    await store.trustSums();
  };
  const writeSums = async () => {
    await rollups.write(clock.nowMs());
    await node?.minutes.write(minutes, clock.nowMs());
  };
  const flush = async () => {
    await writeSums();
    await providerFailures.flush(clock.nowMs());
  };
  const { recorder: rejections, ...refused } = openRejections({
    store: store.rejections,
    clock,
    log,
  });
  const flushRejections = () => rejections.flush();
  const unwrittenSinceMs = (accountId?: string) =>
    earliest(
      journal.waitingSinceMs,
      rollups.unwrittenSinceMs(accountId),
      node && minutes.grownSinceMs(),
    );
  const reports = store.openReports({
    clock,
    flush,
    unwrittenSinceMs,
    // This process is one of those that are asked.
    ...(shared && { askNodes: () => shared.fleet.wantReports() }),
    flushRejections,
    minutes,
    limitMs,
  });
  const eraseAll = async () => {
    while ((await ledger.eraseClaims(clock.nowMs())) > 0) await nextTurn();
  };
  const timers = [
    setInterval(
      () => void flushRollups().catch(tell("cannot write the receipt totals")),
      flushEveryMs,
    ),
    setInterval(
      () => void keyUses.flush().catch(tell("cannot write the last-used times of keys")),
      flushEveryMs,
    ),
    setInterval(
      () =>
        void providerFailures
          .flush(clock.nowMs())
          .catch(tell("cannot write the failures of providers")),
      flushEveryMs,
    ),
    setInterval(
      () => void eraseAll().catch(tell("cannot delete expired idempotent replies")),
      eraseEveryMs,
    ),
    // The journal finds the same fault, rejects calls and probes until it is gone.
    setInterval(() => void store.check().catch(() => journal.probe()), checkEveryMs),
  ];
  for (const timer of timers) timer.unref();
  await eraseAll();
  return {
    purses,
    limiter,
    lender,
    journal,
    counter,
    reasoning,
    receiptWatchers,
    keyUses,
    reports,
    rejections,
    flushRollups,
    writeSums,
    unwrittenSinceMs,
    sums: rollups,
    async close(withinMs = closeWithinMs) {
      const reading = reports.close();
      for (const timer of timers) clearInterval(timer);
      if (counter !== sharedCounter) counter.close();
      tellLost(await journal.idle(withinMs * waitingShare), log);
      journal.close();
      await reading;
      await refused.close();
      await keyUses.flush().catch(tell("cannot write the last-used times of keys"));
      await providerFailures
        .flush(clock.nowMs())
        .catch(tell("cannot write the failures of providers"));
      // If this fails, the mark stays and the next start recomputes the totals.
      await rollups.flush(clock.nowMs(), true).catch(tell("cannot write the last receipt totals"));
      if (limiter instanceof SharedLimiter) limiter.close();
    },
  };
}

function tellLost(left: readonly Unconfirmed[], log: Log): void {
  const tell = (message: string, ids: readonly string[]) => {
    if (ids.length > 0) log.error(message, { count: ids.length, ids: ids.slice(0, 20).join(" ") });
  };
  tell(
    "receipts were lost: the ledger could not be written before shutdown",
    receiptsOf(left, false),
  );
  tell(
    "receipts are in doubt: the database did not answer before shutdown; look for them",
    receiptsOf(left, true),
  );
  tell(
    "calls that failed may have been charged: the database did not answer before shutdown; look for their receipts",
    left.flatMap(({ write }) => (write.type === "void" ? [write.of.receipt.id] : [])),
  );
}

const receiptsOf = (left: readonly Unconfirmed[], doubtful: boolean) =>
  left.flatMap(({ write, isDoubtful }) =>
    write.type === "receipt" && isDoubtful === doubtful ? [write.receipt.id] : [],
  );

/** Before anything is served from it. */
export async function checkLedger(
  { store, shared }: Pick<Opened, "store" | "shared">,
  log: Log,
): Promise<void> {
  const { lostTail } = store;
  if (lostTail !== undefined) logLoss(lostTail, log);
  shared?.node?.losses.watch((lost) => logLoss(lost, log));
  await refuseBelowZero(store);
}

function logLoss({ receiptId, sequence, receipts, fromMs }: LostTail, log: Log): void {
  log.error(
    "receipts that the disk had confirmed are missing from the database; compare it with a backup, and run svc ledger verify to see the loss",
    {
      ...(receiptId === "" ? {} : { newest_receipt: receiptId }),
      ...(receipts === undefined ? {} : { receipts }),
      ...(fromMs === undefined ? {} : { from: new Date(fromMs).toISOString() }),
      ...(sequence === 0 ? {} : { newest_change: sequence }),
    },
  );
}

/** Resolves when the server has ended because it may charge nothing any more. */
export async function whenTakenOver(options: {
  /** Resolves when another process has opened the database, or has closed this node's epoch. */
  readonly ended: Promise<void>;
  readonly isShared: boolean;
  readonly end: () => Promise<void>;
  readonly log: Log;
}): Promise<void> {
  const { ended, isShared, end, log } = options;
  await ended;
  log.error(
    isShared
      ? "this node did not reach the database for too long and was closed by others; it is stopping and makes no more charges"
      : "another process has opened the database; this server is stopping and makes no more charges",
  );
  await end().catch((error: unknown) => log.error("stopping failed", { detail: String(error) }));
}
