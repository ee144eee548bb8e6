import { expect, test } from "bun:test";
import { withoutPassword, withoutPasswords } from "./passwords.ts";

const hidden = "postgres://svc:***@db:5432/svc";

test.each([
  ["postgres://svc:geheim@db:5432/svc", hidden],
  ["postgres://svc:geh/eim@db:5432/svc", hidden],
  ["postgres://svc:12/geheim@db:5432/svc", hidden],
  ["postgres://svc:geh@eim@db:5432/svc", hidden],
  ["postgres://svc:geh@ei/m@db:5432/svc", hidden],
  ["postgres://svc:5?gehe#i:m@db:5432/svc", hidden],
  ["postgres://svc:ge h\neim@db:5432/svc", hidden],
  ['postgres://svc:ge"him@db:5432/svc', hidden],
  ["postgres://svc@db/svc?password=geh@eim#x", "postgres://svc@db/svc?password=***"],
  ["postgres://db/svc?sslpassword=geheim&a=b", "postgres://db/svc?sslpassword=***&a=b"],
  [
    "smtps://ada@example.com:gehe/im@mail.example.com",
    "smtps://ada@example.com:***@mail.example.com",
  ],
])("hides the password in %p", (address, shown) => {
  expect(withoutPassword(address)).toBe(shown);
  expect(withoutPassword(shown)).toBe(shown);
});

test.each([
  "postgres://svc:geheim",
  "postgres:svc:geheim@db/svc",
  "svc:geheim@db/svc",
  "geheim@",
  "http:/svc:geheim@db/svc",
  "http:/svc:geheim@db//svc",
  "http:\\\\svc:geheim@db",
  '"http://svc:geheim@db"',
  "postgres://svc@db:5432/svc?password=geh@eim",
])("hides all of %p, which is no address or has no clear end of its password", (text) =>
  expect(withoutPassword(text)).toBe("…"),
);

test.each(["/srv/a@b/svc.db", "svc.db", "postgres://svc@db:5432/svc", "http://127.0.0.1:4318/v1"])(
  "%p has nothing to hide",
  (text) => expect(withoutPassword(text)).toBe(text),
);

test("hides users and passwords in a sentence, and nothing else", () => {
  const text = (one: string, other: string) =>
    `Not "mysql://${one}host/db": see http://127.0.0.1:8080/v1 or mail ops@svc.example (https://${other}h).`;
  for (const secret of ["u:p@", "u:p/w@", "u:p@w@", "u:12/w@", "u@x:p@"])
    expect(withoutPasswords(text(secret, secret))).toBe(text("…@", "…@"));
  expect(withoutPasswords(text("", ""))).toBe(text("", ""));
});

test("takes linear time", () => {
  // With quadratic time, a minute each.
  for (const piece of ["/", "//a:", "//a:@", "@", ":", "?password="]) {
    const text = piece.repeat(200_000);
    expect(withoutPasswords(text).length).toBeLessThanOrEqual(text.length);
    expect(withoutPassword(text).length).toBeLessThanOrEqual(text.length);
  }
}, 10_000);
