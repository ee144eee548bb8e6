import { DatabaseError, type Pool } from "pg";
import { idTimeMs } from "../../../base/ids.ts";
import { periodStartMs } from "../../../call/limits.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { toHour } from "../../../ledger/rollups.ts";
import {
  type Claim,
  ClaimsLostError,
  FencedError,
  type LedgerWrite,
  type ReceiptWrite,
  UnconfirmedError,
  UnwritableError,
} from "../../../ledger/store.ts";
import { readLimits } from "../../sql/ledger/limits-text.ts";
import { receiptColumns, receiptValues } from "../../sql/ledger/receipt-values.ts";
import { deadlines } from "../deadlines.ts";
import { isRefused, query } from "../query.ts";
import type { OpenHour, SumsMark } from "../reports/sums-mark.ts";

export interface LedgerWriterOptions {
  readonly pool: Pool;
  readonly epoch: number;
  /** Every receipt that a commit has really added. */
  readonly onReceipt: (receipt: Receipt) => void;
  /** From which hour on sums may lack receipts. */
  readonly mark: SumsMark;
  /** Another process has closed the epoch: nothing can be charged any more. */
  readonly onClosed: () => void;
  readonly nowMs: () => number;
}

/** The limits of an owner, as they are now and not as its calls were let in by. */
interface KnownLimits {
  readonly owner: string;
  readonly version: number;
  readonly limits: string | null;
}

interface CommitReply {
  readonly is_open: boolean;
  readonly added?: readonly string[] | null;
  readonly lost?: readonly string[];
  readonly stale?: readonly { readonly owner: string; readonly version: number }[];
}

/** A commit that is not answered by then is tried again, with the same ids. */
const answerMs = deadlines.statement;

export const commitSql = "select svc_commit($1, $2, $3, $4, $5, $6, $7, $8, $9) as reply";

interface Commit {
  readonly writes: readonly LedgerWrite[];
  /** Those of the writes, each once. */
  readonly receipts: readonly ReceiptWrite[];
  readonly known: readonly KnownLimits[];
  readonly openMs: number | undefined;
}

/** A commit that may stand: its receipts, as far as nobody knows of them yet. */
interface Doubt {
  readonly hour: OpenHour;
  left: number;
}

/** The one hot write of the gateway: one call to the database for a batch. */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  /** By receipt: whether it was written is not known, because the database did not answer. */
  readonly #doubtful = new Map<string, Doubt>();

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
  }

  /** Resolves when the writes are durable. */
  async commit(writes: readonly LedgerWrite[]): Promise<void> {
    const voids = writes.filter(({ type }) => type === "void");
    if (voids.length === 0 || voids.length === writes.length) return this.#commit(writes);
    // Each locks rows in their order; one after the other would not.
    await this.#commit(voids).catch((error: unknown) => {
      // The others are told the same.
      if (!(error instanceof FencedError)) throw error;
    });
    await this.#commit(writes.filter(({ type }) => type !== "void"));
  }

  async #commit(writes: readonly LedgerWrite[]): Promise<void> {
    const receipts = receiptsOf(writes);
    const hour = receipts.length === 0 ? noHour : this.#options.mark.open(oldestHour(receipts));
    let reply: CommitReply;
    try {
      reply = await this.#write(writes, receipts, hour.lowerToMs);
    } catch (error) {
      if (isRefused(error)) {
        hour.dropped();
        if (!isOfTheWrites(error)) throw error;
        // Alone, it is dropped for good.
        if (writes.length === 1) for (const { receipt } of receipts) this.#settle(receipt.id);
        throw new UnwritableError(String(error), { cause: error });
      }
      this.#doubt(receipts, hour);
      throw new UnconfirmedError("the database did not confirm the write", { cause: error });
    }
    this.#tell(writes, new Set(reply.added ?? []));
    hour.added();
    if (!reply.is_open) {
      this.#options.onClosed();
      throw new FencedError(closedMessage);
    }
    const { lost = [] } = reply;
    if (lost.length > 0)
      throw new ClaimsLostError(
        writes.filter((write) => write.type === "claim" && lost.includes(write.claim.id)),
      );
  }

  async #write(
    writes: readonly LedgerWrite[],
    receipts: readonly ReceiptWrite[],
    openMs: number | undefined,
  ): Promise<CommitReply> {
    const known = new Map<string, KnownLimits>();
    // Limits may change once more meanwhile, but not without end.
    for (;;) {
      const reply = await this.#send({ writes, receipts, known: [...known.values()], openMs });
      if (reply.stale === undefined) return reply;
      const owners = reply.stale.map(({ owner }) => owner);
      for (const limits of await this.#readLimits(owners)) known.set(limits.owner, limits);
    }
  }

  async #send(of: Commit): Promise<CommitReply> {
    const { pool, epoch, nowMs } = this.#options;
    const [row] = await query<{ reply: CommitReply }>(pool, {
      name: "svc_commit",
      text: commitSql,
      values: commitValues({ ...of, epoch, nowMs: nowMs() }),
      answerMs,
      isOrdered: true,
    });
    if (row === undefined) throw new Error("the database did not answer");
    return row.reply;
  }

  /** Of one whose outcome was unknown, it does not matter which attempt has written it. */
  #tell(writes: readonly LedgerWrite[], added: Set<string>): void {
    for (const write of writes) {
      if (write.type === "void") this.#settle(write.of.receipt.id);
      if (write.type !== "receipt") continue;
      const wasDoubtful = this.#settle(write.receipt.id);
      const isAdded = added.delete(write.receipt.id);
      if (wasDoubtful || isAdded) this.#options.onReceipt(write.receipt);
    }
  }

  #doubt(receipts: readonly ReceiptWrite[], hour: OpenHour): void {
    const fresh = receipts.filter(({ receipt }) => !this.#doubtful.has(receipt.id));
    if (fresh.length === 0) return hour.dropped();
    const doubt = { hour, left: fresh.length };
    for (const { receipt } of fresh) this.#doubtful.set(receipt.id, doubt);
  }

  #settle(id: string): boolean {
    const doubt = this.#doubtful.get(id);
    if (doubt === undefined) return false;
    this.#doubtful.delete(id);
    // The last of them: whoever tells of it adds it up in this same turn.
    if (--doubt.left === 0) queueMicrotask(() => doubt.hour.added());
    return true;
  }

  async #readLimits(owners: readonly string[]): Promise<readonly KnownLimits[]> {
    return query<KnownLimits>(this.#options.pool, {
      text: `select id as owner, limits_version as version, limits from keys where id = any ($1)
        union all select id, limits_version, limits from accounts where id = any ($1)`,
      values: [owners],
      answerMs,
    });
  }
}

/** The parameters of `commitSql`, in their order. */
export function commitValues(
  of: Commit & { readonly epoch: number; readonly nowMs: number },
): readonly unknown[] {
  const { epoch, writes, receipts, known, nowMs, openMs } = of;
  return [
    epoch,
    `[${receipts.map(({ receipt }) => toJson(receipt)).join()}]`,
    JSON.stringify(budgetsOf(receipts, known)),
    JSON.stringify(known.map(({ owner, version }) => ({ owner, version }))),
    JSON.stringify(claimsOf(writes)),
    writes.flatMap((write) => (write.type === "claim-release" ? [write.id] : [])),
    JSON.stringify(voidsOf(writes, known)),
    nowMs,
    openMs ?? null,
  ];
}

/** Each once: the database charges every one that it is given and that is new. */
function receiptsOf(writes: readonly LedgerWrite[]): readonly ReceiptWrite[] {
  const receipts = new Map<string, ReceiptWrite>();
  for (const write of writes)
    if (write.type === "receipt" && !receipts.has(write.receipt.id))
      receipts.set(write.receipt.id, write);
  return [...receipts.values()];
}

interface BudgetRow {
  readonly id: string;
  readonly owner: string;
  readonly period: number;
  readonly is_late: boolean;
}

/**
 * The budgets that a receipt counts for: those that its call was held against, and those that have
 * been set since the call was let in.
 */
function budgetsOf(
  receipts: readonly ReceiptWrite[],
  known: readonly KnownLimits[],
): readonly BudgetRow[] {
  const changed = new Map(known.map((one) => [one.owner, one]));
  return receipts.flatMap(({ receipt, hold }) => {
    const { id } = receipt;
    const held = hold.budgets.map(({ ownerId, periodStartMs: period }) => ({
      id,
      owner: ownerId,
      period,
      is_late: false,
    }));
    const late = ownersOf(receipt).flatMap(({ owner, version }) => {
      const now = changed.get(owner);
      if (now === undefined || now.version === version || now.limits === null) return [];
      const { budget } = readLimits(now.limits);
      if (budget === undefined) return [];
      const period = periodStartMs(budget.period, idTimeMs(id));
      const isHeld = held.some((one) => one.owner === owner && one.period === period);
      return isHeld ? [] : [{ id, owner, period, is_late: true }];
    });
    return [...held, ...late];
  });
}

/** With the versions of their limits that the call was let in by. */
const ownersOf = ({ accountId, keyId, terms }: Receipt) => [
  { owner: accountId, version: terms?.accountLimits ?? 0 },
  { owner: keyId, version: terms?.keyLimits ?? 0 },
];

/**
 * One row for each budget that it counts for if it stands, and one where there is none. A budget that
 * was set since counts it too, whether that came before its commit or after.
 */
const voidsOf = (writes: readonly LedgerWrite[], known: readonly KnownLimits[]) =>
  writes.flatMap((write) => {
    if (write.type !== "void") return [];
    const { receipt, claim } = write.of;
    const { id, accountId: account, keyId: key } = receipt;
    const budgets = budgetsOf([write.of], known);
    const rows = budgets.length === 0 ? [{ id }] : budgets;
    return rows.map((row) => ({ claim: claim?.id, account, key, ...row }));
  });

const claimsOf = (writes: readonly LedgerWrite[]) =>
  writes.flatMap((write) => {
    const claim = write.type === "receipt" || write.type === "claim" ? write.claim : undefined;
    return claim === undefined ? [] : [toClaimRow(claim)];
  });

const toClaimRow = ({ id, bodyHash, requestId, isDone, reply, expiresAtMs }: Claim) => ({
  id,
  body_hash: bodyHash,
  request_id: requestId,
  is_done: isDone ? 1 : 0,
  expires_at_ms: expiresAtMs,
  reply: reply === undefined ? null : Buffer.from(reply).toString("base64"),
});

/** Columns that the database fills in when they are left out. */
const zeros = new Set<string>([
  "input",
  "cached_input",
  "cache_write",
  "output",
  "audio_output",
  "image",
  "video_second",
  "reasoning",
  "estimated",
]);
const names = receiptColumns.map((name) => ({
  text: `${JSON.stringify(name)}:`,
  hasZero: zeros.has(name),
}));

/** An object of what is not zero or null. */
function toJson(receipt: Receipt): string {
  const parts: string[] = [];
  receiptValues(receipt).forEach((value, at) => {
    const name = names[at];
    if (name === undefined || value === null || (value === 0 && name.hasZero)) return;
    parts.push(name.text + (typeof value === "string" ? toJsonText(value) : String(value)));
  });
  return `{${parts.join()}}`;
}

/** Vendors' texts may have what the database cannot keep: a zero byte, or half of a character. */
const toJsonText = (text: string) =>
  JSON.stringify(text.toWellFormed().replaceAll("\u0000", "\ufffd"));

const closedMessage =
  "Another process has closed this node's leases, because it had not reached the database for too long. It can make no more charges; restart it.";

const noHour: OpenHour = { lowerToMs: undefined, added() {}, dropped() {} };

function oldestHour(receipts: readonly ReceiptWrite[]): number {
  let oldestMs = Number.MAX_SAFE_INTEGER;
  for (const { receipt } of receipts) oldestMs = Math.min(oldestMs, idTimeMs(receipt.id));
  return toHour(oldestMs);
}

/** A server that is away comes back; a value that no column takes stays wrong. */
function isOfTheWrites(error: unknown): boolean {
  return error instanceof DatabaseError && /^(22|23|SV001|SV003)/.test(error.code ?? "");
}
