import { Problem } from "../../base/problem.ts";
import { readMeta } from "../sql/meta.ts";
import type { Db } from "../sql/schema.ts";

/** The row of `meta` that is there while a copy from SQLite fills the database (store/copy). */
export const copyKey = "store_copy";

/** The row of `meta` that a complete copy leaves: of which moment of its source it is. */
export const copiedFromKey = "store_copied_from";

/** What has come so far is no ledger: accounts could spend money that their receipts have spent. */
export async function refuseUnfinishedCopy(db: Db): Promise<void> {
  const message = await unfinishedCopy(db);
  if (message !== undefined) throw new Problem({ code: "failed", message });
}

/** In words; undefined where there is none. */
export async function unfinishedCopy(db: Db): Promise<string | undefined> {
  const text = await readMeta(db, copyKey);
  if (text === undefined) return undefined;
  const { from } = JSON.parse(text) as { readonly from: string };
  return `The database has an unfinished copy of ${from}. Run svc store copy on that machine again to complete it, or use another SVC_DATABASE_URL.`;
}
