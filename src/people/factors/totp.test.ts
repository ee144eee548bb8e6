import { expect, test } from "bun:test";
import { matchingStep, newTotpSecret, totpCode, totpStep, totpUri } from "./totp.ts";

/** "12345678901234567890", the secret of the examples in RFC 6238. */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at %d s, the code is that of RFC 6238", (seconds, code) => {
  expect(totpCode(secret, totpStep(seconds * 1_000))).toBe(code);
});

test("a code is right in its own 30 seconds, the 30 before and the 30 after", () => {
  const step = totpStep(1_234_567_890_000);
  const code = totpCode(secret, step);
  const at = (ms: number) => matchingStep(secret, code, ms);
  const startMs = step * 30_000;
  expect(at(startMs - 30_000)).toBe(step);
  expect(at(startMs)).toBe(step);
  expect(at(startMs + 59_999)).toBe(step);
  expect(at(startMs - 30_001)).toBeUndefined();
  expect(at(startMs + 60_000)).toBeUndefined();
});

test("what is not a code of six digits is wrong, whatever it is", () => {
  for (const code of ["", "12345", "1234567", "ünïcöd", "      ", "999999\0"])
    expect(matchingStep(secret, code, 59_000)).toBeUndefined();
});

test("a new secret has 160 bits, and the address for apps names who and where", () => {
  const [one, other] = [newTotpSecret(), newTotpSecret()];
  expect(one).toMatch(/^[A-Z2-7]{32}$/);
  expect(one).not.toBe(other);
  expect(totpUri(secret, "ada+x@example.com", "svc gateway")).toBe(
    `otpauth://totp/svc%20gateway:ada%2Bx%40example.com?secret=${secret}&issuer=svc%20gateway&algorithm=SHA1&digits=6&period=30`,
  );
});
