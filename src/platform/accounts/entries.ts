import type { AuditRecord } from "../../base/audit.ts";
import { toDateText } from "../../base/dates.ts";
import { newId } from "../../base/ids.ts";
import { fromUsd, maxEntryNano, toUsd } from "../../base/money.ts";
import { conflict, invalid, Problem } from "../../base/problem.ts";
import { hasInvisible } from "../../base/text/visible-text.ts";
import type { Account } from "../../ledger/account.ts";
import { Hold } from "../../ledger/purse.ts";
import {
  type Entry,
  type EntryKind,
  type EntryOutcome,
  entryKinds,
  type LedgerStore,
} from "../../ledger/store.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { findAccount } from "../input/values.ts";
import { fundsOf, type MoneyDependencies } from "./funds.ts";
import type { EntryView } from "./schemas.ts";

export interface EntryOperations {
  /** Adds or withdraws money. Idempotent by reference. */
  add(input: {
    account: string;
    kind: EntryKind;
    usd: string;
    reference?: string | undefined;
    note?: string;
  }): Promise<
    EntryView & {
      /** True if the entry already existed and nothing was changed. */
      readonly repeated: boolean;
      readonly balance_usd: string;
    }
  >;
  list(input: { account: string }): Promise<readonly EntryView[]>;
}

export const entryAudits = {
  add: {
    action: {
      credit: "account.credit",
      refund: "account.refund",
      withdrawal: "account.withdraw",
    } satisfies Readonly<Record<EntryKind, string>>,
    detail: ({ usd, note }) => (note === undefined || note === "" ? { usd } : { usd, note }),
  },
  list: null,
} satisfies Audits<EntryOperations>;

export function entryOperations(
  dependencies: MoneyDependencies,
): Unbound<EntryOperations, typeof entryAudits> {
  const { accounts, ledger, clock, sync } = dependencies;
  return {
    async add({ account: name, kind, usd, reference, note = "" }, { audit }) {
      const nano = readAmount(usd);
      checkWords(kind, reference, note);
      const account = await findAccount(accounts, name);
      const id = newId("entry", clock.nowMs());
      const added: Entry = {
        id,
        accountId: account.id,
        kind,
        nano: kind === "withdrawal" ? -nano : nano,
        reference: reference ?? id,
        note,
        createdAtMs: clock.nowMs(),
      };
      const outcome = await record(dependencies, {
        account,
        entry: added,
        audit: audit({ subject: added.reference, accountId: account.id, kind }),
      });
      const entry = entryOf(outcome, account);
      await sync();
      const { granted, spent } = await fundsOf(dependencies, account.id);
      return {
        ...toEntryView(entry),
        repeated: outcome.result === "known",
        balance_usd: toUsd(granted - spent),
      };
    },
    async list({ account: name }) {
      const { id } = await findAccount(accounts, name);
      return (await ledger.entries(id)).map(toEntryView);
    },
  };
}

/**
 * A withdrawal is held like the cost of a call until it takes effect, so that concurrent calls
 * cannot spend it and their own holds are untouched.
 */
async function record(
  dependencies: MoneyDependencies,
  options: { readonly account: Account; readonly entry: Entry; readonly audit: AuditRecord },
): Promise<EntryOutcome> {
  const { account, entry, audit } = options;
  const { ledger, money, takeEffect } = dependencies;
  const pot = entry.nano < 0n ? money?.purses.wholePot(account.id) : undefined;
  const hold = pot && Hold.take(-entry.nano, pot, []);
  try {
    // A known entry changes nothing, so it needs no cover.
    if (pot !== undefined && hold === undefined && !(await isKnown(ledger, entry)))
      throw notCovered({ account, free: pot.free, held: pot.held });
    const outcome = await ledger.addEntry(entry, audit);
    // Also for a known entry: its first writer may have stopped before this step.
    await takeEffect();
    return outcome;
  } finally {
    hold?.release();
  }
}

async function isKnown(ledger: LedgerStore, { accountId, reference }: Entry): Promise<boolean> {
  return (await ledger.entries(accountId)).some((known) => known.reference === reference);
}

function entryOf(outcome: EntryOutcome, account: Account): Entry {
  switch (outcome.result) {
    case "added":
    case "known":
      return outcome.entry;
    case "other": {
      const { kind, nano, reference, createdAtMs } = outcome.entry;
      throw conflict({
        reference: `The reference "${reference}" is already used by a ${kind} of ${toUsd(nano < 0n ? -nano : nano)} USD on ${account.name}, created ${new Date(createdAtMs).toISOString()}. Nothing was changed. Use another reference.`,
      });
    }
    case "short":
      throw notCovered({ account, free: outcome.balance, held: 0n });
    case "lent":
      throw notCovered({ account, free: outcome.balance, held: outcome.lent });
    case "too-much":
      throw invalid({
        usd: `The total credit of an account must not exceed ${toUsd(maxEntryNano)} USD, and ${account.name} has ${toUsd(outcome.balance)} USD. Add less credit or use another account.`,
      });
    default:
      return outcome satisfies never;
  }
}

function notCovered(options: {
  readonly account: Account;
  readonly free: bigint;
  readonly held: bigint;
}): Problem {
  const { account, free, held } = options;
  const wait = held === 0n ? "" : ", or wait until the calls in flight have ended";
  return conflict({
    usd: `${account.name} has ${toUsd(free)} USD available and ${toUsd(held)} USD held for calls in flight. Nothing was changed. Withdraw at most the available amount${wait}.`,
  });
}

function readAmount(text: string): bigint {
  const nano = fromUsd(text);
  if (nano === undefined)
    throw invalid({
      usd: `The amount must be a decimal number with at most 9 decimal places, such as 25 or 0.50, not "${text}".`,
    });
  if (nano === 0n) throw invalid({ usd: "The amount must be greater than 0." });
  if (nano > maxEntryNano)
    throw invalid({ usd: `The amount must be at most ${toUsd(maxEntryNano)} USD, not ${text}.` });
  return nano;
}

function checkWords(kind: EntryKind, reference: string | undefined, note: string): void {
  if (!entryKinds.includes(kind))
    throw invalid({ kind: `The kind must be one of ${entryKinds.join(", ")}, not "${kind}".` });
  if (
    reference !== undefined &&
    (hasInvisible(reference) || !/^(?=.*\S).{1,200}$/u.test(reference))
  )
    throw invalid({ reference: "The reference must be 1 to 200 printable characters." });
  if ([...note].length > 500)
    throw invalid({ note: "The note must be at most 500 characters long." });
  if (hasInvisible(note))
    throw invalid({ note: "The note must not contain invisible characters." });
}

function toEntryView(entry: Entry): EntryView {
  return {
    id: entry.id,
    account: entry.accountId,
    kind: entry.kind,
    amount_usd: toUsd(entry.nano),
    reference: entry.reference,
    note: entry.note,
    created_at: toDateText(entry.createdAtMs),
  };
}
