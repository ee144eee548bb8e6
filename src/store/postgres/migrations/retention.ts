/** How long receipts are kept. Marks are days: sums of days stand for the receipts that are gone. */
export const retentionStatements = [
  "alter table accounts add column receipts_days integer",
  // Of an account, or of all: ''.
  `create table receipt_marks (
    account_id text collate "C" primary key,
    kept_from_ms bigint not null,
    exported_to_ms bigint not null,
    erased_to_ms bigint not null
  )`,
];
