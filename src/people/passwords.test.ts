import { expect, test } from "bun:test";
import { Passwords } from "./passwords.ts";

test("a password that is longer than one may be is not looked at, not even the right one", async () => {
  const passwords = new Passwords();
  const longest = "long".repeat(50);
  const longer = `${longest}!`;
  expect(await passwords.verify(longest, await passwords.hash(longest))).toBe(true);
  expect(await passwords.verify(longer, await passwords.hash(longer))).toBe(false);
});

test("when too many came at once for the first unknown email, the next ones are answered again", async () => {
  const passwords = new Passwords();
  const hashes = Array.from({ length: 34 }, () => passwords.hash("a long enough password"));
  await expect(passwords.verify("a guess", undefined)).rejects.toThrow("Too many people");
  const [known] = await Promise.all(hashes);
  expect(await passwords.verify("a guess", undefined)).toBe(false);
  expect(await passwords.verify("a long enough password", known)).toBe(true);
});
