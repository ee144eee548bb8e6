import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { setTimeZone } from "../../format/moments.ts";
import {
  draftOf,
  findKeys,
  type Key,
  modelsProblem,
  newDraft,
  toChangeBody,
  toCreateBody,
  toExpires,
  toNewExpires,
} from "./key-draft.ts";

beforeAll(() => setTimeZone("utc"));
afterAll(() => setTimeZone("local"));

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
  paused_at: null,
  created_by: "ada@example.com",
  spent_usd: "0.00",
  spent_as_of: null,
  last_used_at: null,
  last_rejected_at: null,
  rejected_last_hour: [],
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
    expect(toChangeBody(key, draftOf(key), undefined)).toBeUndefined();
    expect(toChangeBody(key, { ...draftOf(key), models: ["b", "a"] }, undefined)).toBeUndefined();
  });

  test("names what differs alone", () => {
    const draft = draftOf(key);
    expect(toChangeBody(key, { ...draft, name: "laptop" }, undefined)).toEqual({ name: "laptop" });
    expect(toChangeBody(key, { ...draft, mayCallAll: true }, undefined)).toEqual({ models: null });
    expect(toChangeBody(key, { ...draft, models: ["a"] }, undefined)).toEqual({ models: ["a"] });
    const limits = { ...draft.limits, rpm: "", budget: "7" };
    expect(toChangeBody(key, { ...draft, limits }, undefined)).toEqual({
      rpm: "none",
      budget: "7/day",
    });
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
  const chosen = { after: "day", day: "2027-05-01" };
  expect(toExpires(chosen, nowMs, "UTC")).toBe("2027-05-01T00:00:00Z");
  expect(toExpires(chosen, nowMs, "Europe/Berlin")).toBe("2027-04-30T22:00:00Z");
});

test("the end of a key is sent only where another one is chosen", () => {
  const nowMs = Date.parse("2027-01-01T00:00:00Z");
  const ending = { ...key, expires_at: "2027-02-01T00:00:00Z" };
  const of = (after: string, day = "") => toNewExpires(ending, { after, day }, nowMs);
  expect([of("keep"), of(""), of("7"), of("day", "2027-03-01"), of("day")]).toEqual([
    undefined,
    "never",
    "2027-01-08T00:00:00.000Z",
    "2027-03-01T00:00:00Z",
    "",
  ]);
  expect(toNewExpires(key, { after: "", day: "" }, nowMs)).toBeUndefined();
  expect(toChangeBody(key, draftOf(key), "never")).toEqual({ expires: "never" });
});

test("keys are found by all words of what is looked for", () => {
  const keys = [key, { ...key, id: "key_2", name: "Checkout service", models: null }];
  const found = (wanted: string) => findKeys(keys, wanted).map(({ id }) => id);
  expect(found("")).toEqual(["key_1", "key_2"]);
  expect(found("SERVICE check")).toEqual(["key_2"]);
  expect(found("ada abcd")).toEqual(["key_1", "key_2"]);
  expect(found("nothing")).toEqual([]);
});
