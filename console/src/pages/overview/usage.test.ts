import { expect, test } from "bun:test";
import { changeOf, toView } from "./usage.ts";

test.each([
  [112, 100, 0.12],
  [50, 100, -0.5],
  [100, 100, 0],
  [0, 100, -1],
  [5, 0, undefined],
  [5, null, undefined],
  [null, 5, undefined],
  [5, undefined, undefined],
  [1_200, 100, undefined],
])("%p after %p is a change of %p", (now, before, change) => {
  expect([changeOf(now, before)]).toEqual([change]);
});

test("what the address asks for is taken over, within an account", () => {
  const search = { range: "7d", by: "key", model: "m", key: "k" } as const;
  expect(toView(search, "acct_1")).toEqual({ account: "acct_1", ...search });
});

test("what there is not to choose is left out; accounts are told apart by the operator alone", () => {
  const usual = { range: "24h", by: "model", model: "", key: "" } as const;
  expect(toView({}, "acct_1")).toEqual({ account: "acct_1", ...usual });
  expect(toView({ range: "2h", by: "account" }, "acct_1")).toEqual({ account: "acct_1", ...usual });
  expect(toView({ by: "account" }, undefined)).toEqual({
    account: undefined,
    ...usual,
    by: "account",
  });
});
