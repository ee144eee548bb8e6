import { expect, test } from "bun:test";
import { isUsable, temporaryLifetimeMs } from "./directory.ts";
import { SignedKeys } from "./signed-keys.ts";

const hashKey = new Uint8Array(32).fill(7);
const nowMs = 1_000_000;

test("a key of one process opens in every other with the same secret, for its time", () => {
  const { key, expiresAtMs } = new SignedKeys(hashKey).issue("acct_1", nowMs, "ada");
  const other = new SignedKeys(hashKey);
  const found = other.find(key);
  expect(found).toMatchObject({
    accountId: "acct_1",
    name: "temporary",
    createdAtMs: nowMs,
    expiresAtMs,
  });
  expect(expiresAtMs).toBe(nowMs + temporaryLifetimeMs);
  if (found === undefined) throw new Error("not found");
  expect(isUsable(found, expiresAtMs - 1)).toBe(true);
  expect(isUsable(found, expiresAtMs)).toBe(false);
  expect(other.find(key)).toBe(found);
  expect(other.current(found.hash)).toBe(found);
});

test("another secret, another body and another signature open nothing", () => {
  const keys = new SignedKeys(hashKey);
  const [mine, yours] = ["acct_1", "acct_2"].map((account) =>
    keys.issue(account, nowMs).key.split("."),
  );
  // Known by now: a signature opens its own body alone.
  expect(keys.find(mine?.join(".") ?? "")).toBeDefined();
  expect(keys.find([mine?.[0], yours?.[1], mine?.[2]].join("."))).toBeUndefined();
  expect(keys.find([mine?.[0], mine?.[1], yours?.[2]].join("."))).toBeUndefined();
  expect(new SignedKeys(new Uint8Array(32)).find(mine?.join(".") ?? "")).toBeUndefined();
  for (const odd of [
    "",
    "sk-svc-t.",
    "sk-svc-t..",
    "sk-svc-t.e30.e30",
    `sk-svc-t.${"A".repeat(9_999)}`,
  ])
    expect(keys.find(odd)).toBeUndefined();
});

test("ended keys of an owner stay ended, and those issued later work", () => {
  const keys = new SignedKeys(hashKey);
  const before = keys.issue("acct_1", nowMs, "ada").key;
  const bob = keys.issue("acct_1", nowMs, "bob").key;
  const found = keys.find(before);
  keys.setEnded(new Map([["ada", nowMs]]));
  expect(keys.find(before)).toBeUndefined();
  expect(keys.current(found?.hash ?? "")).toBeUndefined();
  expect(keys.find(bob)).toBeDefined();
  expect(keys.find(keys.issue("acct_1", nowMs + 1, "ada").key)).toBeDefined();
});
