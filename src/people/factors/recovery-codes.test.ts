import { expect, test } from "bun:test";
import { newRecoveryCodes, recoveryHash, recoveryHashes } from "./recovery-codes.ts";

test("ten different codes, each found again however it is typed, and only for its user", () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes)
    expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/);
  const [code = ""] = codes;
  const [hash] = recoveryHashes("user_1", codes);
  expect(recoveryHash("user_1", code.toUpperCase().replaceAll("-", " "))).toBe(hash);
  expect(recoveryHash("user_2", code)).not.toBe(hash);
});

test("letters that look like digits count as them, and other texts are not codes", () => {
  expect(recoveryHash("u", "OOOO-IIII-llll-0000")).toBe(recoveryHash("u", "0000111111110000"));
  for (const text of ["", "0000", "0000-0000-0000-000u", "0000-0000-0000-0000-0"])
    expect(recoveryHash("u", text)).toBeUndefined();
});
