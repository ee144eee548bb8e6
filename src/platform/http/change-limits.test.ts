import { expect, test } from "bun:test";
import { ChangeLimits } from "./change-limits.ts";
import type { Actor } from "./context.ts";

const operator = { id: "user_1", isOperator: true };
const member = { id: "user_2", isOperator: false };
const token = (id: string, accountId: string | undefined): Actor => ({
  kind: "token",
  token: {
    id,
    accountId,
    role: accountId === undefined ? "operator" : "developer",
    name: id,
    hint: "",
    hash: "",
    scopes: [],
    createdAtMs: 0,
    createdBy: "",
    createdById: "",
  },
});

/** How many are admitted at one moment. */
function countAdmitted(admit: () => void): number {
  for (let count = 0; ; count++)
    try {
      admit();
    } catch (error) {
      expect(error).toMatchObject({ refusal: { code: "too_many_changes" } });
      return count;
    }
}

test("an operator's token makes a thousand changes at once and then ten per second", () => {
  const limits = new ChangeLimits();
  const admit = (nowMs: number) => () => limits.admit(token("token_1", undefined), nowMs);
  expect(countAdmitted(admit(0))).toBe(1_000);
  expect(countAdmitted(admit(100))).toBe(1);
});

test("all tokens of an account share a hundred, and no other account's", () => {
  const limits = new ChangeLimits();
  let at = 0;
  const admit = (account: string) => () => limits.admit(token(`token_${at++}`, account), 0);
  expect(countAdmitted(admit("acct_1"))).toBe(100);
  expect(countAdmitted(admit("acct_2"))).toBe(100);
});

test("sessions are counted apart from changes, by user", () => {
  const limits = new ChangeLimits();
  expect(countAdmitted(() => limits.admitSession(operator, 0))).toBe(1_000);
  expect(countAdmitted(() => limits.admitSession(member, 0))).toBe(100);
  limits.admitSession(member, 1_000);
  limits.admit(token("token_1", undefined), 0);
});
