import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "../../../src/store/postgres/postgres.ts";
import { createHome, type Home } from "../../setup/child.ts";
import { createDatabase, dropDatabase } from "../../setup/postgres.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

const database =
  "because SQLite serves one process: set SVC_DATABASE_URL to its address, such as postgres://host:5432/svc.";

test("without PostgreSQL, several processes are refused in one sentence, and nothing is created", async () => {
  const cases = [
    [["serve", "--workers", "4"], `Several workers need PostgreSQL, ${database}`],
    [["gateway"], `svc gateway needs PostgreSQL, ${database}`],
    [["platform"], `svc platform needs PostgreSQL, ${database}`],
  ] as const;
  for (const [words, sentence] of cases) {
    const { code, stderr } = await home.svc(words);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `error: ${sentence}\n` });
  }
  const { stderr } = await home.svc(["serve"], { environment: { SVC_WORKERS: "2" } });
  expect(stderr).toBe(`error: Several workers need PostgreSQL, ${database}\n`);
  expect(existsSync(join(home.dataDir, "lock.db"))).toBe(false);
});

test("a wrong number of workers is refused with what is allowed", async () => {
  for (const count of ["many", "0", "-1"]) {
    const { code, stderr } = await home.svc(["serve", "--workers", count]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "--workers: Must be a whole number from 1 to 256, or auto for one per core.",
    );
  }
});

test("a database that cannot be reached ends the start of each of them", async () => {
  const environment = { SVC_DATABASE_URL: "postgres://svc:geheim@127.0.0.1:1/svc" };
  for (const words of [["serve"], ["serve", "--workers", "2"], ["gateway"], ["platform"]]) {
    const { code, stdout, stderr } = await home.svc(words, { environment });
    expect(code).not.toBe(0);
    expect(stdout).not.toContain("Ctrl-C");
    expect(stderr).not.toContain("geheim");
  }
});

test("a gateway whose metrics port is taken says how to start it, and leaves no node behind", async () => {
  const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const url = await createDatabase();
  const postgres = await openPostgres({ url, connections: 1 });
  try {
    const environment = {
      SVC_DATABASE_URL: url,
      SVC_PORT: "0",
      SVC_METRICS_PORT: String(taken.port),
    };
    const { code, stderr } = await home.svc(["gateway"], { environment });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/Port \d+ is already in use\. .*: SVC_METRICS_PORT=\d+ svc gateway/);
    const { rows } = await postgres.pool.query("select name from nodes");
    expect(rows).toEqual([]);
  } finally {
    await postgres.close();
    await dropDatabase(url);
    await taken.stop(true);
  }
});
