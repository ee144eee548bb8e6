import { expect, test } from "bun:test";
import { failedSignIn } from "../../../../src/people/people.ts";
import { resources } from "../../../../src/platform/operations.ts";
import { actionGroups, actionWords, detailOf, subjectOf, wordsOf } from "./actions.ts";

test("every audit action has a label", () => {
  const declared = Object.values(resources).flatMap(([audits]) => Object.values(audits));
  const noted = declared.flatMap((audit) => {
    if (audit === null) return [];
    return typeof audit.action === "string" ? [audit.action] : Object.values(audit.action);
  });
  expect(noted.length).toBeGreaterThan(30);
  const all = [...noted, failedSignIn, "model.embed"];
  expect(all.filter((action) => actionWords[action] === undefined)).toEqual([]);
});

test("an action without words of its own is still readable", () => {
  expect(wordsOf("key.create")).toBe("created the key");
  expect(wordsOf("thing.made_up")).toBe("thing made up");
});

test("the filter has every action once, by what it is about", () => {
  const groups = actionGroups();
  expect(groups.find(({ group }) => group === "Token")?.items).toEqual([
    { value: "token.create", label: "created the token" },
    { value: "token.revoke", label: "revoked the token" },
  ]);
  expect(groups.flatMap(({ items }) => items)).toHaveLength(Object.keys(actionWords).length);
});

test("details are shown as names and text, without empty ones", () => {
  const of = (detail: Readonly<Record<string, unknown>>) =>
    detailOf({ action: "token.create", subject: "ci", detail });
  expect(of({ role: "viewer", scopes: ["usage:read", "keys:read"], expires: null, n: 0 })).toEqual([
    ["role", "viewer"],
    ["scopes", "usage:read, keys:read"],
    ["n", "0"],
  ]);
  expect(of({ removal_date: "x", limits: { rpm: "60" } })).toEqual([
    ["removal date", "x"],
    ["limits", "rpm 60"],
  ]);
});

test("an entry names the account, and its reference and amount are details", () => {
  const names = new Map([["acct_1", "Acme Corp"]]);
  const record = {
    action: "account.credit",
    actor: "ops@example.com",
    account: "acct_1",
    subject: "invoice-7",
    detail: { usd: "25" },
  };
  expect(subjectOf(record, names)).toEqual({ name: "Acme Corp", id: "acct_1" });
  expect(detailOf(record)).toEqual([
    ["amount", "$25"],
    ["reference", "invoice-7"],
  ]);
  expect(detailOf({ ...record, subject: "entry_01" })).toEqual([["amount", "$25"]]);
});

test("a sentence that is complete has no subject", () => {
  const record = { actor: "ada@example.com", account: null, subject: "own password" };
  expect(subjectOf({ ...record, action: "person.password" }, new Map())).toBeUndefined();
  expect(
    subjectOf({ ...record, action: "session.begin", subject: record.actor }, new Map()),
  ).toBeUndefined();
});
