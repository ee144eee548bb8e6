import { expect, test } from "bun:test";
import { passkeyPlaceOf } from "./passkey-place.ts";

const kindAt = (href: string, hasPasskeys = true) => passkeyPlaceOf({ href, hasPasskeys }).kind;

test.each([
  ["https://console.example.com/me", "ready"],
  ["http://localhost:8081/me", "ready"],
  ["http://console.localhost:8081/me", "ready"],
  ["http://127.0.0.1:8081/me", "loopback"],
  ["http://[::1]:8081/me", "loopback"],
  ["http://10.0.0.7:8081/me", "address"],
  ["https://10.0.0.7/me", "address"],
  ["https://[2001:db8::7]/me", "address"],
  ["http://console.example.com/me", "insecure"],
  ["http://gateway:8081/me", "insecure"],
] as const)("passkeys at %s: %s", (href, kind) => expect(kindAt(href)).toBe(kind));

test("a browser without passkeys is one that does not support them", () => {
  expect(kindAt("https://console.example.com/", false)).toBe("unsupported");
});

test("an address of this machine leads to the same page of its name, without the secret of a link", () => {
  expect(passkeyPlaceOf({ href: "http://127.0.0.1:8081/me", hasPasskeys: false })).toEqual({
    kind: "loopback",
    href: "http://localhost:8081/me",
  });
  expect(
    passkeyPlaceOf({ href: "http://[::1]:8081/join?a=1#secret", hasPasskeys: true }),
  ).toMatchObject({ href: "http://localhost:8081/join" });
});
