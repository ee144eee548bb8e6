import { describe, expect, test } from "bun:test";
import {
  draftOf,
  type Key,
  modelsProblem,
  newDraft,
  toChangeBody,
  toCreateBody,
  toExpires,
} from "./key-draft.ts";

const key: Key = {
  id: "key_1",
  account: "acct_1",
  name: "ci",
  hint: "sk-svc-…abcd",
  models: ["a", "b"],
  status: "active",
  created_at: "2027-01-01T00:00:00Z",
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  previous: null,
  limits: { rpm: "60", tpm: null, concurrency: null, budget: "5.00/day" },
  budget: null,
};

test("a new key asks for what was filled in and for nothing else", () => {
  expect(toCreateBody({ ...newDraft, name: " ci " }, undefined)).toEqual({ name: "ci" });
  const limits = { ...newDraft.limits, rpm: "60", budget: "5", period: "day" };
  const draft = { ...newDraft, name: "ci", mayCallAll: false, models: ["a"], limits };
  expect(toCreateBody(draft, "2027-01-31")).toEqual({
    name: "ci",
    models: ["a"],
    expires: "2027-01-31",
    rpm: "60",
    budget: "5/day",
  });
});

describe("a change", () => {
  test("of nothing asks for nothing, in whatever order the models are chosen", () => {
    expect(toChangeBody(key, draftOf(key))).toBeUndefined();
    expect(toChangeBody(key, { ...draftOf(key), models: ["b", "a"] })).toBeUndefined();
  });

  test("names what differs alone", () => {
    const draft = draftOf(key);
    expect(toChangeBody(key, { ...draft, name: "laptop" })).toEqual({ name: "laptop" });
    expect(toChangeBody(key, { ...draft, mayCallAll: true })).toEqual({ models: null });
    expect(toChangeBody(key, { ...draft, models: ["a"] })).toEqual({ models: ["a"] });
    const limits = { ...draft.limits, rpm: "", budget: "7" };
    expect(toChangeBody(key, { ...draft, limits })).toEqual({ rpm: "none", budget: "7/day" });
  });
});

test("a key that may call no model at all is not asked for", () => {
  expect(modelsProblem({ ...newDraft, mayCallAll: false })).toContain("at least one");
  expect(modelsProblem({ ...newDraft, mayCallAll: false, models: ["a"] })).toBeUndefined();
  expect(modelsProblem(newDraft)).toBeUndefined();
});

test("an end is some days from now, or the day that was chosen", () => {
  const nowMs = Date.parse("2027-01-01T10:00:00Z");
  expect(toExpires({ after: "", day: "2027-05-01" }, nowMs)).toBeUndefined();
  expect(toExpires({ after: "7", day: "" }, nowMs)).toBe("2027-01-08T10:00:00.000Z");
  expect(toExpires({ after: "day", day: "2027-05-01" }, nowMs)).toBe("2027-05-01");
});
