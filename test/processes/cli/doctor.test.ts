import { expect, test } from "bun:test";
import { examineHome, wrong } from "../../setup/doctor.ts";
import { useHome } from "../../setup/use-home.ts";
import { usePostgres } from "../../setup/use-postgres.ts";

const postgres = usePostgres();

const home = useHome({ isBare: true });

// The server of the tests keeps nothing safe, so that it is fast.
test("svc doctor examines the server, what it does for safety, its clock and its connections", async () => {
  const environment = { SVC_DATABASE_URL: postgres().url };
  await (await home.serve(environment)).stop();
  const checks = await examineHome(home, environment, ["--deep"]);
  expect(wrong(checks, "database")).toEqual([
    "problem: The database server runs with fsync = off, so a crash can lose receipts.",
    "problem: The database server runs with synchronous_commit = off, so a crash can lose receipts.",
  ]);
  const found = checks.map(({ finding }) => finding).join("\n");
  for (const part of ["PostgreSQL 1", "It answers in", "of the database's clock", "adds up"])
    expect(found).toContain(part);
});
