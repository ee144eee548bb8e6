import { expect, test } from "bun:test";
import { networkOf, Throttle } from "./throttle.ts";

const limit = { burst: 3, everyMs: 1_000 };

test("after so many at once one has to wait, and then one is let through each time", () => {
  const throttle = new Throttle(limit);
  for (let at = 0; at < 3; at++) {
    expect(throttle.waitMs("a", 0)).toBe(0);
    throttle.count("a", 0);
  }
  expect([throttle.waitMs("a", 0), throttle.waitMs("a", 999)]).toEqual([1_000, 1]);
  expect(throttle.waitMs("a", 1_000)).toBe(0);
  throttle.count("a", 1_000);
  expect(throttle.waitMs("a", 1_000)).toBe(1_000);
  expect(throttle.waitMs("b", 0)).toBe(0);
});

test("what is given back takes nothing from what others have failed", () => {
  const throttle = new Throttle(limit);
  for (let at = 0; at < 3; at++) throttle.count("a", 0);
  for (let at = 0; at < 5; at++) {
    throttle.count("a", 0);
    throttle.giveBack("a");
  }
  expect(throttle.waitMs("a", 0)).toBe(1_000);
});

test("what is given back late leaves no credit", () => {
  const throttle = new Throttle(limit);
  throttle.count("a", 0);
  throttle.giveBack("a");
  throttle.giveBack("never counted");
  for (let at = 0; at < 3; at++) throttle.count("a", 60_000);
  expect(throttle.waitMs("a", 60_000)).toBe(1_000);
});

test("a clock that is set back makes one wait for one failure, not until it is there again", () => {
  const throttle = new Throttle(limit);
  for (let at = 0; at < 3; at++) throttle.count("a", 3_600_000);
  expect(throttle.waitMs("a", 0)).toBe(1_000);
  expect(throttle.waitMs("a", 1_000)).toBe(0);
  throttle.count("a", 1_000);
  expect(throttle.waitMs("a", 1_000)).toBe(1_000);
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["2001:db8:0:1::5", "2001:db8:0:1::/64"],
  ["2001:0DB8:0000:0001:aaaa:bbbb:cccc:dddd", "2001:db8:0:1::/64"],
  ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
  ["2001:db8::5", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", ""],
])("the address %s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
