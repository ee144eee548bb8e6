/** A fixed piece of work, of the kinds that tests do. Prints the CPU seconds that it took. */

import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";

function work(): void {
  const db = new Database(":memory:");
  db.run("create table rows (id integer primary key, text text)");
  const insert = db.prepare("insert into rows (text) values (?)");
  const hash = createHash("sha256");
  for (let at = 0; at < 20_000; at++) {
    const row = { at, name: `row ${at}`, list: [at, at + 1, at + 2], more: { half: at / 2 } };
    const text = JSON.stringify(row);
    hash.update(text);
    insert.run(text);
    if (JSON.parse(text).at !== at) throw new Error("JSON is broken.");
  }
  db.query("select count(*) as count, max(length(text)) as length from rows").get();
  hash.digest("hex");
  db.close();
}

for (let round = 0; round < 8; round++) work();
const { user, system } = process.cpuUsage();
process.stdout.write(String((user + system) / 1e6));
