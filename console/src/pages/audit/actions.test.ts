import { expect, test } from "bun:test";
import { failedSignIn } from "../../../../src/people/people.ts";
import { resources } from "../../../../src/platform/operations.ts";
import { actionGroups, actionWords, detailOf, wordsOf } from "./actions.ts";

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

test("details are told as names and text, and what is empty is left out", () => {
  expect(
    detailOf({ role: "viewer", scopes: ["usage:read", "keys:read"], expires: null, n: 0 }),
  ).toEqual([
    ["role", "viewer"],
    ["scopes", "usage:read, keys:read"],
    ["n", "0"],
  ]);
  expect(detailOf({ removal_date: "x", limits: { rpm: "60" } })).toEqual([
    ["removal date", "x"],
    ["limits", "rpm 60"],
  ]);
});
