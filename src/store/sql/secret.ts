import { Problem } from "../../base/problem.ts";
import { readMeta } from "./meta.ts";
import type { Db } from "./schema.ts";

/**
 * The first secret that opens a database is the only one that does. Of several processes that start
 * on an empty database, one is the first.
 */
export async function checkSecret(
  db: Db,
  { fingerprint, advice }: { readonly fingerprint: string; readonly advice: string },
): Promise<void> {
  const known = (await readMeta(db, "secret_fingerprint")) ?? (await claim(db, fingerprint));
  if (known !== fingerprint)
    throw new Problem({
      code: "failed",
      message: `The database belongs to another master secret, so its stored keys would not work. ${advice}`,
    });
}

async function claim(db: Db, fingerprint: string): Promise<string | undefined> {
  await db
    .insertInto("meta")
    .values({ key: "secret_fingerprint", value: fingerprint })
    .onConflict((conflict) => conflict.column("key").doNothing())
    .execute();
  return readMeta(db, "secret_fingerprint");
}
