import { expect, test } from "bun:test";
import { isMailAddress, readMailbox } from "./mailbox.ts";

test("a mailbox is an address, or a name with an address", () => {
  expect(readMailbox("ada@example.com")).toEqual({ name: "", address: "ada@example.com" });
  expect(readMailbox(" Models at Example <no-reply@example.com> ")).toEqual({
    name: "Models at Example",
    address: "no-reply@example.com",
  });
});

test.each([
  "ada",
  "Ada <ada>",
  "ada@example.com, eve@example.com",
  "Ada <ada@example.com> <eve@example.com>",
  "Ada\r\nBcc: eve@example.com <ada@example.com>",
  "",
])("%p is not one mailbox", (text) => expect(readMailbox(text)).toBeUndefined());

test.each([
  "ada@example.com\r\nBcc: eve@example.com",
  "ada@example.com,eve@example.com",
  "<ada@example.com>",
  '"a b"@example.com',
  "a@b@c",
])("%p is not an address that mail is sent to", (text) => {
  expect(isMailAddress(text)).toBe(false);
});
