import { type Entry, entryKinds } from "../../../ledger/store.ts";

/** Money is read as text: a number would lose digits. */
export interface EntryRow {
  readonly id: string;
  readonly account_id: string;
  readonly kind: string;
  readonly nano: string;
  readonly reference: string;
  readonly note: string;
  readonly created_at_ms: number;
}

export function toEntry(row: EntryRow): Entry {
  const kind = entryKinds.find((known) => known === row.kind);
  if (kind === undefined) throw new Error(`the database contains an unknown kind: ${row.kind}`);
  return {
    id: row.id,
    accountId: row.account_id,
    kind,
    nano: BigInt(row.nano),
    reference: row.reference,
    note: row.note,
    createdAtMs: row.created_at_ms,
  };
}
