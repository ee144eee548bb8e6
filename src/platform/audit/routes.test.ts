import { beforeAll, expect, test } from "bun:test";
import { joinMember, refusal, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

let nowMs = Date.UTC(2027, 0, 1);
const names = Array.from({ length: 52 }, (_, at) => `key ${at}`);

const { gateway, operator, owner } = usePlatform({
  clock: { nowMs: () => nowMs },
  members: ["owner"],
});
beforeAll(async () => {
  let id = "";
  for (const name of names) {
    nowMs++;
    const { body } = await owner.ask("POST /api/accounts/:account/keys", { body: { name } });
    ({ id } = body);
  }
  nowMs++;
  const { id: other } = await gateway.server.operations.accounts.create({ name: "other" });
  const stranger = await joinMember(gateway, operator, { account: other, role: "owner" });
  await stranger.ask("POST /api/accounts/:account/keys", {
    params: { account: other },
    body: { name: "theirs" },
  });
  await owner.ask("DELETE /api/accounts/:account/keys/:id", { params: { id } });
});

interface Row {
  readonly action: string;
  readonly subject: string;
  readonly account: string | null;
}

const read = async (query: Record<string, string>) => {
  const { body } = await owner.ask("GET /api/accounts/:account/audit", { query });
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
  expect(new Set(records.map((row) => row.account))).toEqual(new Set([gateway.account]));
  expect(records[0]?.action).toBe("key.revoke");
  const { body } = await operator.ask("GET /api/audit", { query: { action: "key.create" } });
  const accounts = new Set(body.records.map((row: Row) => row.account));
  expect(accounts.size).toBe(2);
  const named = body.records.find((row: Row) => row.subject.startsWith("theirs"));
  expect(named).toMatchObject({ account_name: "other" });
});

const subjectsOf = ({ records }: { readonly records: readonly Row[] }) =>
  records.map(({ subject }) => subject.split(" (")[0] ?? "");
const firstMs = Date.UTC(2027, 0, 1);
const moment = (afterMs: number) => new Date(firstMs + afterMs).toISOString();

test.each([
  ["the actor, whatever the case", { actor: "OWNER-", action: "key.revoke" }, ["key 51"]],
  ["an actor that did nothing", { actor: "grace" }, []],
  ["a part of the subject", { subject: "KEY 3", action: "key.create" }, 11],
  ["words in the action", { search: "revoke" }, ["key 51"]],
  ["words in the subject", { search: "key 17" }, ["key 17"]],
  ["all of them at once", { actor: "owner-", subject: "key 51", search: "create" }, ["key 51"]],
  ["signs that a pattern would have", { subject: "key%" }, []],
  ["a moment, the end excluded", { from: moment(2), to: moment(4) }, ["key 2", "key 1"]],
  ["a day", { from: "2027-01-01", to: "2027-01-02", subject: "key 51" }, ["key 51", "key 51"]],
  ["a day without entries", { from: "2027-01-02" }, []],
  ["nothing, where fields are empty", { search: " ", actor: "", subject: "key 44" }, ["key 44"]],
] as const)("filtered by %s", async (_, query, expected) => {
  const told = subjectsOf(await read({ ...query }));
  if (typeof expected === "number") expect(told).toHaveLength(expected);
  else expect(told).toEqual([...expected]);
});

test("a filter that makes no sense is refused at its field", async () => {
  for (const [field, value] of [
    ["from", "yesterday"],
    ["to", "2027-02-30"],
  ] as const) {
    expect(
      await refusal(owner.ask("GET /api/accounts/:account/audit", { query: { [field]: value } })),
    ).toEqual([400, field]);
  }
});

test("the CSV has all pages of what the filters leave, and of no other account", async () => {
  const lines = (text: string): readonly string[] => text.trim().split("\r\n");
  const csv = async (who: Visitor, query: Record<string, string> = {}) =>
    await who.ask("GET /api/accounts/:account/audit.csv", { query });
  const answer = await csv(owner, { action: "key.create", subject: "key " });
  expect(answer.response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [header, ...rows] = lines(answer.body);
  expect(header).toBe("id,at,actor_kind,actor,address,action,subject,account,account_name,detail");
  expect(rows).toHaveLength(names.length);
  expect(rows[0]).toContain("key 51");
  expect(rows.every((row) => row.includes(gateway.account))).toBe(true);
  expect(lines((await csv(owner)).body).join("\n")).not.toContain("theirs");
  const all = await operator.ask("GET /api/audit.csv", { query: { action: "key.create" } });
  expect(lines(all.body)).toHaveLength(names.length + 3);
  expect(all.body).toContain("theirs");
  expect((await csv(owner, { to: "soon" })).body.error.field).toBe("to");
});

test("the CSV hides operators from members, and so does the filter by actor", async () => {
  const query = { action: "member.invite" };
  const own = await owner.ask("GET /api/accounts/:account/audit.csv", { query });
  expect(own.body).toContain(",operator,an operator,,member.invite,");
  // Whoever cannot read a name cannot search by it.
  const found = await read({ ...query, actor: "operator-" });
  expect(found.records).toEqual([]);
});
