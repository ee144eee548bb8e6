import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../../test/setup/harness.ts";
import { joinMember, joinOperator, type Visitor } from "../../../test/setup/platform-home.ts";

let gateway: TestGateway;
let operator: Visitor;
let owner: Visitor;
let account: string;
let nowMs = Date.UTC(2027, 0, 1);
const names = Array.from({ length: 52 }, (_, at) => `key ${at}`);

beforeAll(async () => {
  gateway = await startTestGateway({ clock: { nowMs: () => nowMs } });
  ({ account } = gateway);
  operator = await joinOperator(gateway);
  owner = await joinMember(gateway, operator, { account, role: "owner" });
  let id = "";
  for (const name of names) {
    nowMs++;
    const { body } = await owner.ask("POST /api/accounts/:account/keys", {
      params: { account },
      body: { name },
    });
    ({ id } = body);
  }
  nowMs++;
  const { id: other } = await gateway.server.operations.accounts.create({ name: "other" });
  const stranger = await joinMember(gateway, operator, { account: other, role: "owner" });
  await stranger.ask("POST /api/accounts/:account/keys", {
    params: { account: other },
    body: { name: "theirs" },
  });
  await owner.ask("DELETE /api/accounts/:account/keys/:id", {
    params: { account, id },
  });
});
afterAll(() => gateway.stop());

interface Row {
  readonly action: string;
  readonly subject: string;
  readonly account: string | null;
}

const read = async (query: Record<string, string>) => {
  const { body } = await owner.ask("GET /api/accounts/:account/audit", {
    params: { account },
    query,
  });
  return body as { readonly records: readonly Row[]; readonly after: string | null };
};

test("of one action all are told, page by page, the newest first, and nothing else", async () => {
  const first = await read({ action: "key.create" });
  expect(first.records.length).toBe(50);
  const second = await read({ action: "key.create", after: first.after ?? "" });
  expect(second.after).toBeNull();
  const all = [...first.records, ...second.records];
  expect(new Set(all.map((row) => row.action))).toEqual(new Set(["key.create"]));
  const told = all.map(({ subject }) => subject.split(" (")[0] ?? "");
  // The last one is the gateway's own, which has no name.
  expect(told.slice(0, -1)).toEqual(names.toReversed());
});

test("of a rare action the few are found behind many others", async () => {
  const { records, after } = await read({ action: "member.invite" });
  expect([records.map((row) => row.action), after]).toEqual([["member.invite"], null]);
  expect((await read({ action: "nothing.such" })).records).toEqual([]);
});

test("an account sees its own records, the operator all, with account names", async () => {
  const { records } = await read({});
  expect(new Set(records.map((row) => row.account))).toEqual(new Set([account]));
  expect(records[0]?.action).toBe("key.revoke");
  const { body } = await operator.ask("GET /api/audit", { query: { action: "key.create" } });
  const accounts = new Set(body.records.map((row: Row) => row.account));
  expect(accounts.size).toBe(2);
  const named = body.records.find((row: Row) => row.subject.startsWith("theirs"));
  expect(named).toMatchObject({ account_name: "other" });
});
