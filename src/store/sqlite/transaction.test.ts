import { expect, test } from "bun:test";
import { openEmptyDatabase } from "../../../test/setup/empty-database.ts";
import { useFolder } from "../../../test/setup/folder.ts";

const root = useFolder();

/** As a reader on another thread does for a moment when it meets a commit. */
const holder = `
const database = new (require("bun:sqlite").Database)(process.argv[1]);
database.run("begin immediate");
console.log("held");
setTimeout(() => database.run("commit"), 300);
`;

test("a transaction that reads before it writes waits for whoever holds the lock", async () => {
  const { db, path } = openEmptyDatabase(root);
  const child = Bun.spawn([process.execPath, "-e", holder, path], { stdout: "pipe" });
  for await (const _held of child.stdout) break;
  await db.transaction().execute(async (transaction) => {
    await transaction.selectFrom("meta").selectAll().execute();
    await transaction.insertInto("meta").values({ key: "waited", value: "yes" }).execute();
  });
  expect(await child.exited).toBe(0);
  expect(await db.selectFrom("meta").select("value").where("key", "=", "waited").execute()).toEqual(
    [{ value: "yes" }],
  );
  await db.destroy();
});
