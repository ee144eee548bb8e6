import { type Kysely, sql } from "kysely";
import { epochShareCall } from "../locks.ts";
import { commitStatements } from "./commit.ts";
import { lendingStatements } from "./lending.ts";

/**
 * What happens to money, in functions of the database: each is one round trip and one transaction.
 *
 * Locks are taken in this order, so that no two processes wait for each other: `retention`, `limits`,
 * the epoch, accounts by id, leases, then budgets by owner and period, then claims by id. Processes
 * that charge or lend share the lock of their own epoch; one that closes the epoch has it alone, and
 * so waits for commits that are under way. `limits` is shared by all that counts for a budget, so that
 * one that is set can see who may not know of it yet; versions that had it alone meanwhile may run
 * beside this one. These are advisory locks: they write nothing, and are given in the order in which
 * they were asked for, so that no one waits without end.
 *
 * A version that runs beside a newer one calls the functions it knows: one that must change gets a
 * new name.
 */
export async function functions(db: Kysely<unknown>): Promise<void> {
  const statements = [...reportRequests, enter, ...commitStatements, ...lendingStatements];
  await sql.raw(statements.join(";\n")).execute(db);
}

/** One row: raised when a report is opened, so that processes write the sums they have. */
const reportRequests = [
  "create table report_requests (id integer primary key, wanted bigint not null)",
  "insert into report_requests (id, wanted) values (1, 0)",
];

/** Whether the epoch is open, and so until the transaction ends; null where there is none. */
const enter = `create function svc_enter(p_epoch bigint) returns boolean language plpgsql volatile as $$
begin
  perform ${epochShareCall("p_epoch")};
  return (select is_open from epochs where id = p_epoch);
end $$`;
