import { expect, test } from "bun:test";
import { isOwnHost } from "./own-host.ts";

test.each([
  ["127.0.0.1", "127.0.0.1:8081"],
  ["127.0.0.1", "localhost"],
  ["127.0.0.1", "[::1]:8081"],
  ["192.0.2.7", "192.0.2.7"],
  ["Box.lan", "box.LAN:8081"],
  ["fd00:0:0::5", "[FD00::5]:8081"],
  ["0.0.0.0", "198.51.100.9"],
  ["::", "[2001:db8::1]"],
])("listening on %s, %s is its own", (listensOn, header) => {
  expect(isOwnHost(header, { listensOn })).toBe(true);
});

test.each([
  ["127.0.0.1", null],
  ["127.0.0.1", ""],
  ["127.0.0.1", "evil.example"],
  ["127.0.0.1", "192.0.2.7"],
  ["192.0.2.7", "192.0.2.8"],
  ["0.0.0.0", "evil.example"],
  ["::", "evil.example"],
  ["127.0.0.1", "127.0.0.1/evil.example"],
  ["127.0.0.1", "evil.example@127.0.0.1"],
  ["127.0.0.1", "127.0.0.1:8081:1"],
  ["127.0.0.1", "127.0.0.1:999999"],
  ["127.0.0.1", "127.0.0.1.evil.example"],
])("listening on %s, %p is not", (listensOn, header) => {
  expect(isOwnHost(header, { listensOn })).toBe(false);
});

test("the public address is its own, by its name and with any port", () => {
  const own = { listensOn: "127.0.0.1", publicUrl: "https://console.example.com:8443" };
  expect(isOwnHost("console.example.com", own)).toBe(true);
  expect(isOwnHost("Console.example.com:8443", own)).toBe(true);
  expect(isOwnHost("example.com", own)).toBe(false);
  expect(isOwnHost("[::5]", { ...own, publicUrl: "http://[::5]:8081" })).toBe(true);
});
