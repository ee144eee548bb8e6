import { expect, test } from "bun:test";
import { clonedPasskey, failedFactor, failedSignIn } from "../../../../src/people/people.ts";
import { resources } from "../../../../src/platform/operations.ts";
import { actionGroups, actionWords, detailOf, sentenceOf, subjectOf, wordsOf } from "./actions.ts";

test("every audit action has a label", () => {
  const declared = Object.values(resources).flatMap(([audits]) => Object.values(audits));
  const noted = declared.flatMap((audit) => {
    if (audit === null) return [];
    return typeof audit.action === "string" ? [audit.action] : Object.values(audit.action);
  });
  expect(noted.length).toBeGreaterThan(30);
  const all = [...noted, failedSignIn, failedFactor, clonedPasskey, "model.embed"];
  expect(all.filter((action) => actionWords[action] === undefined)).toEqual([]);
});

test("an action without words of its own is still readable", () => {
  expect(wordsOf("key.create")).toBe("created the key");
  expect(wordsOf("thing.made_up")).toBe("thing made up");
});

test("the filter has every action once, by what it is about", () => {
  const groups = actionGroups();
  expect(groups.find(({ group }) => group === "Token")?.items).toEqual([
    { value: "token.create", label: "Token created" },
    { value: "token.revoke", label: "Token revoked" },
  ]);
  const items = groups.flatMap((group) => group.items);
  expect(items).toHaveLength(Object.keys(actionWords).length);
  // A sentence without its subject, “set their time zone to”, says little in a list.
  expect(items.filter(({ label }) => !/^[A-Z0-9]/.test(label))).toEqual([]);
  expect(new Set(items.map(({ label }) => label)).size).toBe(items.length);
});

test("details are shown as names and text, without empty ones", () => {
  const of = (detail: Readonly<Record<string, unknown>>) =>
    detailOf({ action: "token.create", subject: "ci", detail });
  expect(of({ role: "viewer", scopes: ["usage:read", "keys:read"], expires: null, n: 0 })).toEqual([
    { name: "role", text: "viewer" },
    { name: "scopes", text: "usage:read, keys:read" },
    { name: "n", text: "0" },
  ]);
  expect(of({ removal_date: "x", limits: { rpm: "60" } })).toEqual([
    { name: "removal date", text: "x" },
    { name: "limits", text: "rpm 60" },
  ]);
});

test("an entry names the account, and its amount is in the sentence and its reference a detail", () => {
  const names = new Map([["acct_1", "Acme Corp"]]);
  const record = {
    action: "account.credit",
    actor: "ops@example.com",
    account: "acct_1",
    subject: "invoice-7",
    detail: { usd: "25" },
  };
  expect(subjectOf(record, names)).toEqual({ name: "Acme Corp", id: "acct_1" });
  expect(sentenceOf(record)).toBe("added $25.00 credit to");
  expect(detailOf(record)).toEqual([{ name: "reference", text: "invoice-7" }]);
  expect(detailOf({ ...record, subject: "entry_01" })).toEqual([]);
});

test("what a field was before stands beside what it is; what did not change is omitted", () => {
  const of = (detail: Readonly<Record<string, unknown>>) =>
    detailOf({ action: "key.limit", subject: "ci", detail });
  expect(of({ rpm: "60", tpm: "none", before: { rpm: "5", tpm: null } })).toEqual([
    { name: "rpm", text: "60", before: "5" },
  ]);
  expect(of({ price: { input: "2.00" }, before: { price: null } })).toEqual([
    { name: "price", text: "input 2.00", before: "none" },
  ]);
  expect(of({ before: { price: { input: "1.00" } } })).toEqual([
    { name: "price", text: "none", before: "input 1.00" },
  ]);
  const route = { provider: "acme", model: "vendor/m" };
  expect(of({ routes: [{ ...route, weight: 2 }], before: { routes: [route] } })).toEqual([
    { name: "routes", text: "acme/vendor/m (weight 2)", before: "acme/vendor/m" },
  ]);
  // From before the log had it.
  expect(of({ rpm: "60" })).toEqual([{ name: "rpm", text: "60" }]);
});

test("an id in a detail is shown by its name", () => {
  const names = new Map([["acct_1", "Acme Corp"]]);
  const record = { action: "token.create", subject: "ci", detail: { account: "acct_1" } };
  expect(detailOf(record, names)).toEqual([{ name: "account", text: "Acme Corp" }]);
});

test("what people do to themselves is a sentence without a subject", () => {
  const record = { actor: "ada@example.com", account: null, detail: {} };
  const own = { ...record, action: "operator.remove", subject: record.actor };
  expect([sentenceOf(own), subjectOf(own, new Map())]).toEqual([
    "gave up the operator role",
    undefined,
  ]);
  const other = { ...own, subject: "alan@example.com" };
  expect(sentenceOf(other)).toBe("removed the operator role from");
});

test("a sentence that is complete has no subject", () => {
  const record = { actor: "ada@example.com", account: null, subject: "own password" };
  expect(subjectOf({ ...record, action: "person.password" }, new Map())).toBeUndefined();
  expect(
    subjectOf({ ...record, action: "session.begin", subject: record.actor }, new Map()),
  ).toBeUndefined();
});
