/** docs/recompute.py fits the database; `test/recompute` runs it. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { useTestGateway } from "../../setup/use-gateway.ts";

const script = join(import.meta.dir, "../../../docs/recompute.py");
const gateway = useTestGateway();

test("reads nothing but columns that there are", () => {
  const names = readFileSync(script, "utf8").matchAll(/\br\["(\w+)"\]/g);
  const wanted = new Set([...names].map(([, name = ""]) => name));
  for (const part of ["input", "output", "audio", "image", "video"]) wanted.add(`hold_${part}`);
  wanted.delete("hold_");
  const db = new Database(join(gateway.dataDir, "svc.db"), { readonly: true });
  const columns = db
    .query<{ name: string }, []>(
      "select c.name from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table'",
    )
    .all();
  db.close();
  const known = new Set(columns.map(({ name }) => name));
  expect([...wanted].filter((name) => !known.has(name))).toEqual([]);
  expect(wanted.size).toBeGreaterThan(20);
});
