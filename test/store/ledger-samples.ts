import { idTimeMs, newId } from "../../src/base/ids.ts";
import { dialects } from "../../src/call/dialect.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import {
  addTo,
  emptyRollup,
  hourMs,
  type Rollup,
  Rollups,
  toHour,
} from "../../src/ledger/rollups.ts";
import type {
  Claim,
  Entry,
  LedgerStore,
  LedgerWrite,
  LimitsChange,
  LimitsSet,
} from "../../src/ledger/store.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import type { ContractDatabase } from "./contract-database.ts";

export interface Opened {
  readonly database: ContractDatabase;
  readonly store: Store;
}

export async function closeOpened({ database, store }: Opened): Promise<void> {
  await store.close();
  await database.remove();
}

/** Numbers lose digits from 2^53 on; money must not. */
export const above2to53 = 9_007_199_254_740_993n;
export const noonMs = Date.UTC(2027, 0, 15, 12);
export const maxBalance = 1_000_000_000n * 1_000_000_000n;
export const maxCallMs = 900_000;

let made = 0;

export function entryOf(rest: Partial<Entry> = {}): Entry {
  made++;
  return {
    id: newId("entry", noonMs + made),
    accountId: "acct_1",
    kind: "credit",
    nano: 100n,
    reference: `reference ${made}`,
    note: "",
    createdAtMs: 5,
    ...rest,
  };
}

export function receiptOf(rest: Partial<Receipt> = {}): Receipt {
  made++;
  return {
    id: newId("req", noonMs + made),
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    endpoint: "chat",
    provider: "p",
    attempts: [{ provider: "p", model: "upstream", startedMs: 2, durationMs: 10 }],
    priceVersion: 1,
    units: {
      input: 1,
      cached_input: 2,
      cache_write: 3,
      output: 4,
      audio_output: 5,
      image: 6,
      video_second: 7,
    },
    reasoningTokens: 2,
    estimated: false,
    hold: 50n,
    cost: 10n,
    charged: 10n,
    vendorCost: undefined,
    outcome: "ok",
    firstByteMs: undefined,
    durationMs: 12,
    ...rest,
  };
}

/** Of several hours, accounts, keys and outcomes, some with a vendor's cost. */
export function mixedReceipts(fromMs = noonMs): Receipt[] {
  return Array.from({ length: 40 }, (_, at) =>
    receiptOf({
      id: newId("req", fromMs + (at % 4) * (hourMs - 1)),
      ...(at % 7 === 0
        ? { accountId: "acct_2", keyId: "key_of_2" }
        : { accountId: "acct_1", keyId: `key_${at % 3}` }),
      provider: at % 5 === 0 ? "" : "p",
      dialect: dialects[at % 5],
      outcome: ["ok", "left", "upstream_error"][at % 3] ?? "ok",
      vendorCost: at % 2 === 0 ? undefined : above2to53,
      cost: above2to53,
      charged: BigInt(at) * 1_000_000_007n,
      // At, just above and far from the bounds that times are counted by.
      durationMs: [0, 25, 26, 51_200, 51_201, 3_600_000][at % 6] ?? 0,
      firstByteMs: [undefined, 50, 51, 400, 1][at % 5],
    }),
  );
}

export function sumUp(receipts: readonly Receipt[]): Rollup[] {
  const sums = new Map<string, Rollup>();
  for (const receipt of receipts) {
    const { id, accountId, keyId, model, provider } = receipt;
    const hour = toHour(idTimeMs(id));
    const of = { hourMs: hour, accountId, keyId, model, provider };
    const sum = sums.get(JSON.stringify(of)) ?? emptyRollup(of);
    sums.set(JSON.stringify(of), sum);
    addTo(sum, receipt);
  }
  return [...sums.values()];
}

export const write = (
  receipt: Receipt,
  budgets: readonly { ownerId: string; periodStartMs: number }[] = [],
): LedgerWrite => ({ type: "receipt", receipt, hold: { budgets } });

/** No column takes this one: of a number that is none SQLite makes null. */
export const unwritableReceipt = () => receiptOf({ durationMs: Number.NaN });
export const unwritable = () => write(unwritableReceipt());

/** Adds up what is committed from now on, as a running server does. */
export async function startSums(
  ledger: Pick<LedgerStore, "rollups" | "watch">,
  nowMs = noonMs,
): Promise<Rollups> {
  const rollups = new Rollups(ledger.rollups, maxCallMs);
  await rollups.start(nowMs);
  ledger.watch((receipt) => rollups.add(receipt));
  return rollups;
}

/** Of the first account, unless another owner is named; what was set. */
export async function setLimits(
  ledger: LedgerStore,
  change: Partial<LimitsChange>,
): Promise<LimitsSet | undefined> {
  let set: LimitsSet | undefined;
  await ledger.setLimits({
    owner: { accountId: "acct_1", keyId: undefined },
    limits: undefined,
    audit: auditOf(),
    nowMs: () => noonMs,
    unwritten: () => 0n,
    onSet: (done) => {
      set = done;
    },
    ...change,
  });
  return set;
}

export function claimOf(rest: Partial<Claim> = {}): Claim {
  return {
    id: "claim_1",
    bodyHash: "hash",
    requestId: "req_1",
    isDone: false,
    reply: undefined,
    expiresAtMs: 100,
    ...rest,
  };
}
