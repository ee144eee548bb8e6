import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import { useHome } from "../setup/use-home.ts";

/** What becomes of both databases after a copy. */

const home = useHome();
let url: string;
beforeEach(async () => {
  url = await createDatabase();
  await home.ok("account create payer");
});
afterEach(async () => {
  await dropDatabase(url);
});

const copy = (...flags: readonly string[]) => home.svc(["store", "copy", ...flags]);
const place = () => {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
};

test("a database that was copied serves no more, and can be read", async () => {
  expect((await copy("--to", url)).code).toBe(0);
  for (const words of [["serve"], ["account", "list"]]) {
    const { code, stderr } = await home.svc(words);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(
        /^error: The database \S+svc\.db was copied to \S+\. Set SVC_DATABASE_URL to that address, or run svc store copy --cancel to go on with the SQLite database\.\n$/,
      ),
    });
    expect(stderr).toContain(`${place()}.`);
  }
  await home.ok("ledger verify");
  await home.ok("receipt list");
});

test("the address can come from a file, so that its password is in no list of processes", async () => {
  const file = join(home.dataDir, "database-url");
  writeFileSync(file, `${url}\n`, { mode: 0o600 });
  const environment = { SVC_DATABASE_URL_FILE: file };
  const { code, stdout } = await home.svc("store copy", { environment });
  expect(code).toBe(0);
  expect(stdout).toContain(`to ${place().replace("postgres://", "postgres://postgres@")}`);
});

test("the same copy again is complete, with the totals", async () => {
  expect((await copy("--to", url)).stdout).not.toContain("already complete");
  const { code, stdout } = await copy("--to", url);
  expect(code).toBe(0);
  expect(stdout).toStartWith("This copy is already complete.\n");
  expect(stdout).toContain("1 accounts, 0 entries, 0 receipts");
  expect(JSON.parse((await copy("--to", url, "--json")).stdout)).toMatchObject({
    was_complete: true,
    accounts: 1,
  });
});

test("a second copy elsewhere is refused, because both would have the money", async () => {
  await copy("--to", url);
  const other = await createDatabase();
  try {
    const { code, stderr } = await copy("--to", other);
    expect(code).toBe(4);
    expect(stderr).toContain(`was already copied to ${place()}, which has the money now.`);
  } finally {
    await dropDatabase(other);
  }
});

test("a copy that is canceled leaves the SQLite database to servers again", async () => {
  await copy("--to", url);
  const { code, stdout } = await copy("--cancel");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^canceled Servers can start on \S+svc\.db again\.\n/);
  expect(stdout).toContain(`Do not start one on ${place()} as well`);
  await home.ok("account list");
  const again = await copy("--cancel");
  expect(again.code).toBe(3);
  expect(again.stderr).toContain("was not copied, so there is nothing to cancel.");
});

test("a first start on an empty PostgreSQL database mentions the SQLite database", async () => {
  const sentence = "svc store copy moves it to an empty PostgreSQL database";
  const server = await home.serve({ SVC_DATABASE_URL: url });
  await server.stop();
  expect(server.stderr()).toContain(sentence);
  const second = await home.serve({ SVC_DATABASE_URL: url });
  await second.stop();
  expect(second.stderr()).not.toContain(sentence);
});
