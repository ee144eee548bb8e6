import type { LostTail } from "../store.ts";
import type { Problems } from "./problems.ts";

/** What the disk had confirmed must be there. */
export function checkMark(lost: readonly LostTail[], problems: Problems): void {
  for (const { receiptId, sequence, foundAtMs } of lost) {
    const found = `none since ${new Date(foundAtMs).toISOString()}`;
    if (receiptId !== "")
      problems.add({
        kind: "lost-receipts",
        subject: receiptId,
        expected: "this receipt, and others before it",
        found,
      });
    if (sequence > 0)
      problems.add({
        kind: "lost-changes",
        subject: `change ${sequence}`,
        expected: "credits, keys, accounts and models up to this change",
        found,
      });
  }
}
