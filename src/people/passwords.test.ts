import { expect, test } from "bun:test";
import { cheapPasswords } from "../../test/setup/cheap-passwords.ts";
import { Passwords } from "./passwords.ts";

const stranger = (password: string, hash?: string) => ({ password, hash, isKnown: false });

test("a password that is longer than one may be is not looked at, not even the right one", async () => {
  const passwords = new Passwords(cheapPasswords);
  const longest = "long".repeat(50);
  const longer = `${longest}!`;
  expect(await passwords.verify(stranger(longest, await passwords.hash(longest)))).toBe(true);
  expect(await passwords.verify(stranger(longer, await passwords.hash(longer)))).toBe(false);
});

test("when too many came at once for the first unknown email, the next ones are answered again", async () => {
  const passwords = new Passwords(cheapPasswords);
  const hashes = Array.from({ length: 34 }, () => passwords.hash("a long enough password"));
  await expect(passwords.verify(stranger("a guess"))).rejects.toThrow("Too many sign-ins");
  const [known] = await Promise.all(hashes);
  expect(await passwords.verify(stranger("a guess"))).toBe(false);
  expect(await passwords.verify(stranger("a long enough password", known))).toBe(true);
});

test("however many strangers wait, people who are known are let in, and before them", async () => {
  const passwords = new Passwords(cheapPasswords);
  const password = "a long enough password";
  const hash = await passwords.hash(password);
  // What unknown emails are compared with is there from now on.
  await passwords.verify(stranger("a guess"));
  const order: string[] = [];
  const arrivals = Array.from({ length: 72 }, (_, index) => {
    const isKnown = index >= 40;
    const who = isKnown ? "known" : "stranger";
    return passwords.verify({ password, hash, isKnown }).then(
      () => order.push(who),
      () => order.push(`refused ${who}`),
    );
  });
  await Promise.all(arrivals);
  expect(order.filter((who) => who.startsWith("refused"))).toEqual(
    Array(6).fill("refused stranger"),
  );
  const served = order.filter((who) => !who.startsWith("refused"));
  // Two strangers were at work already. When the third begins, at most one known person is still at work.
  const strangers = served.flatMap((who, index) => (who === "stranger" ? index : []));
  const before = served.slice(0, strangers[2]);
  expect(before.filter((who) => who === "known").length).toBeGreaterThanOrEqual(31);
});
