import { type PlainLedger, startOf } from "./plain-ledger.ts";
import type { RealLedger } from "./real-ledger.ts";

const hourMs = 3_600_000;

export interface Compared {
  readonly plain: PlainLedger;
  readonly real: RealLedger;
  readonly nowMs: number;
}

/** Throws where the two ledgers differ, or where one of them breaks a law. */
export function checkLedger(
  compared: Compared & {
    /** To look makes the real one prepare the budget: it should come out the same without. */
    readonly secretOf: (keyId: string) => string;
    readonly looksAtBudgets: boolean;
  },
): void {
  checkAccounts(compared);
  checkReceipts(compared);
  const { plain, real, nowMs, secretOf, looksAtBudgets } = compared;
  for (const [ownerId, { period, nano }] of plain.budgets) {
    const startMs = startOf(period, nowMs);
    const spent = plain.budgetSpent(ownerId, startMs);
    const held = plain.budgetHeld(ownerId, startMs);
    isTrue(`${ownerId} keeps to its budget`, spent + held <= plain.budgetCeiling(ownerId, startMs));
    const row = real.one<{ spent: bigint }>(
      "select spent from budget_spends where owner_id = ? and period_start_ms = ?",
      ownerId,
      startMs,
    );
    same(`${ownerId}: written`, row?.spent ?? 0n, plain.budgetSpent(ownerId, startMs, true));
    if (!looksAtBudgets) continue;
    const isAccount = plain.accounts.some(({ id }) => id === ownerId);
    const pot = real.budgetPot({ id: ownerId, secret: isAccount ? undefined : secretOf(ownerId) });
    same(`${ownerId}: the budget's limit`, pot.limit, nano);
    same(`${ownerId}: the budget's spent`, pot.spent, spent);
    same(`${ownerId}: the budget's held`, pot.held, held);
  }
}

function checkAccounts({ plain, real }: Compared): void {
  for (const account of plain.accounts) {
    const { id } = account;
    const pot = real.purses.find(id)?.pot;
    if (pot === undefined) throw new Error(`${id} is not in memory`);
    same(`${id}: in memory, money in`, pot.limit, plain.granted(account));
    same(`${id}: in memory, spent`, pot.spent, plain.spent(account));
    same(`${id}: held`, pot.held, plain.held(account));
    isTrue(`${id}: free is not below zero`, pot.free >= 0n);
    isTrue(`${id}: the balance is not below zero`, pot.limit - pot.spent >= 0n);
    const lease = real.one<{ granted: bigint }>(
      "select granted from leases where account_id = ?",
      id,
    );
    same(`${id}: written, money in`, lease?.granted, plain.granted(account));
    const receipts = real.one<{ charged: bigint }>(
      "select coalesce(sum(charged), 0) as charged from receipts where account_id = ?",
      id,
    );
    same(`${id}: written, spent`, receipts?.charged, plain.spent(account, true));
  }
}

function checkReceipts({ plain, real }: Compared): void {
  const written = plain.over.filter(({ isDurable }) => isDurable);
  const all = real.one<{ count: bigint }>("select count(*) as count from receipts");
  same("the number of receipts", all?.count, BigInt(written.length));
  // The others were compared when they were the last.
  const last = written.toSorted((one, other) => (one.ended ?? 0) - (other.ended ?? 0)).at(-1);
  if (last === undefined) return;
  const row = real.one<Record<string, bigint | string>>(
    "select * from receipts where id = ?",
    last.id,
  );
  same(`${last.id}: its receipt`, toText(row), {
    account_id: last.account.id,
    key_id: last.keyId,
    model: last.model,
    price_version: String(last.price.version),
    input: String(last.units.input),
    cached_input: String(last.units.cached_input),
    output: String(last.units.output),
    hold: String(last.hold),
    cost: String(last.cost),
    charged: String(last.charged),
    outcome: last.outcome,
  });
}

const compared = [
  "account_id",
  "key_id",
  "model",
  "price_version",
  "input",
  "cached_input",
  "output",
  "hold",
  "cost",
  "charged",
  "outcome",
] as const;

function toText(row: Record<string, bigint | string> | null): Record<string, string> {
  return Object.fromEntries(compared.map((name) => [name, String(row?.[name])]));
}

/** The sums by hour and by account are those of the receipts, and the ledger's own examination finds nothing. */
export async function checkSums({ plain, real }: Compared): Promise<void> {
  await real.flush();
  const sums = new Map<
    string,
    [receipts: number, charged: bigint, cost: bigint, failures: number]
  >();
  for (const { startedMs, keyId, model, charged, cost, outcome } of plain.over) {
    const name = `${startedMs - (startedMs % hourMs)} ${keyId} ${model}`;
    const [receipts, ...rest] = sums.get(name) ?? [0, 0n, 0n, 0];
    const isFailure = outcome !== "ok" && outcome !== "left";
    sums.set(name, [
      receipts + 1,
      rest[0] + charged,
      rest[1] + cost,
      rest[2] + (isFailure ? 1 : 0),
    ]);
  }
  const found = (await real.store.ledger.rollups.list({})).map(
    (row) =>
      [
        `${row.hourMs} ${row.keyId} ${row.model}`,
        [row.receipts, row.charged, row.cost, row.failures],
      ] as const,
  );
  same("the sums by hour", toLines(found), toLines([...sums]));
  for (const account of plain.accounts) {
    const lease = await real.store.ledger.lease(account.id);
    same(`${account.id}: summed, spent`, lease?.spent, plain.spent(account));
  }
  const { problems } = await real.verify();
  same("the examination of the ledger", problems, []);
}

const toLines = (sums: readonly (readonly [string, readonly (number | bigint)[]])[]) =>
  sums.map(([name, counts]) => `${name}: ${counts.join(" ")}`).toSorted();

export function same(what: string, real: unknown, plain: unknown): void {
  if (!Bun.deepEquals(real, plain))
    throw new Error(`${what}: ${Bun.inspect(real)}, and should be ${Bun.inspect(plain)}`);
}

function isTrue(what: string, isSo: boolean): void {
  if (!isSo) throw new Error(`it should hold that ${what}`);
}
