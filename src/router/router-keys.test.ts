/** Several keys of one provider: each is a target of its own. */

import { describe, expect, test } from "bun:test";
import { failure, modelOf, one, ranked, Served } from "../../test/setup/router-home.ts";
import type { KeyTerms } from "../providers/contract.ts";
import type { RouterOptions } from "./router.ts";

const two: readonly KeyTerms[] = [
  { name: "x", weight: 3 },
  { name: "y", weight: 1 },
];

/** Provider a has the keys x and y; all others have one. The name of who served is `a:x`. */
const keyed = (options: Partial<RouterOptions> = {}, keys = two) =>
  new Served({
    findProvider: (name, key) => ({ name: key === undefined ? name : `${name}:${key}` }),
    keysOf: (name) => (name === "a" ? keys : []),
    ...options,
  });

const states = ({ router }: Served) =>
  Object.fromEntries(
    router.health().map(({ provider, key, state }) => [`${provider}:${key}`, state]),
  );

describe("calls are spread over the keys of a provider", () => {
  test("by weight", async () => {
    const picks: string[] = [];
    for (const random of [0, 0.74, 0.76, 0.99]) {
      const served = keyed({ random: () => random });
      picks.push(String(await served.call(one)));
    }
    expect(picks).toEqual(["a:x", "a:x", "a:y", "a:y"]);
  });

  test("after the choice of a route, however many keys it has", async () => {
    const both = modelOf({ weight: 1 }, { weight: 1 });
    const counts: Record<string, number> = {};
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const served = keyed({ random });
    for (let call = 0; call < 200; call++) {
      const name = String(await served.call(both));
      counts[name] = (counts[name] ?? 0) + 1;
    }
    const ofA = (counts["a:x"] ?? 0) + (counts["a:y"] ?? 0);
    expect(Math.abs(ofA - (counts["b"] ?? 0))).toBeLessThan(30);
  });

  test("a key of weight 0 serves only where no other can", async () => {
    const served = keyed({}, [
      { name: "x", weight: 1 },
      { name: "y", weight: 0 },
    ]);
    for (let call = 0; call < 5; call++) expect(await served.call(one)).toBe("a:x");
    served.answers["a:x"] = [failure("limited", 60_000)];
    expect(await served.call(one)).toBe("a:y");
  });
});

describe("a key rests alone:", () => {
  for (const reason of ["auth", "quota"] as const)
    test(`${reason}: the other serves at once, and all further calls`, async () => {
      const served = keyed({ random: () => 0 });
      served.answers["a:x"] = [failure(reason)];
      expect(await served.call(one)).toBe("a:y");
      expect(served.takeAsked()).toBe("a:xa:y");
      expect(states(served)).toEqual({ "a:x": "open", "a:y": "closed" });
      expect(await served.call(one)).toBe("a:y");
      expect(served.takeAsked()).toBe("a:y");
    });

  test("limited: the other serves, and the call is not held up", async () => {
    const served = keyed({ random: () => 0 });
    served.answers["a:x"] = [failure("limited", 50_000)];
    for (let call = 0; call < 3; call++) expect(await served.call(one)).toBe("a:y");
    expect(served.takeAsked()).toBe("a:xa:ya:ya:y");
    expect(served.pauses).toEqual([]);
    expect(states(served)).toEqual({ "a:x": "resting", "a:y": "closed" });
  });

  test("where all are limited, the caller hears that", async () => {
    const served = keyed();
    for (const name of ["a:x", "a:y"]) served.answers[name] = [failure("limited", 50_000)];
    expect(await served.call(one)).toMatchObject({ code: "upstream_rate_limited" });
  });
});

test("a provider that is down is not tried again with its other keys: the next route is", async () => {
  for (const reason of ["unreachable", "timeout", "overloaded", "failed"] as const) {
    const served = keyed({ random: () => 0 });
    for (const name of ["a:x", "a:y"]) served.answers[name] = [failure(reason)];
    expect(await served.call(ranked)).toBe("b");
    expect(served.takeAsked()).toBe("a:xb");
  }
});

test("an attempt names its key, and a provider with one key names none", async () => {
  const served = keyed({ random: () => 0 });
  served.answers["a:x"] = [failure("auth")];
  await served.call(one);
  expect(served.attempt?.key).toBe("y");
  expect(served.attempt?.failures).toMatchObject([{ provider: "a", key: "x" }]);
  const single = new Served();
  await single.call(one);
  expect(single.attempt?.key).toBeUndefined();
  expect(single.router.health()).toMatchObject([{ provider: "a", key: null }]);
});

test("a key that was replaced starts afresh; the others keep what is held against them", async () => {
  const served = keyed();
  for (const name of ["a:x", "a:y"]) served.answers[name] = [failure("auth")];
  await served.call(one);
  expect(states(served)).toEqual({ "a:x": "open", "a:y": "open" });
  served.router.forget({ name: "a", key: "x" });
  expect(states(served)).toEqual({ "a:x": "closed", "a:y": "open" });
});

test("a key that is removed is no longer asked, nor shown", async () => {
  let keys = two;
  const served = keyed({ random: () => 0.99, keysOf: () => keys });
  expect(await served.call(one)).toBe("a:y");
  keys = two.slice(0, 1);
  served.router.keepOnly([one]);
  expect(await served.call(one)).toBe("a:x");
  expect(Object.keys(states(served))).toEqual(["a:x"]);
});

test("the first success of a target is reported once, and again after a reset", async () => {
  const told: string[] = [];
  const served = keyed({
    random: () => 0,
    onServed: ({ provider, key, model }) => told.push(`${provider}:${key}/${model}`),
  });
  await served.call(one);
  await served.call(one);
  expect(told).toEqual(["a:x/m"]);
  served.router.forgetServed({ provider: "a", key: "x", model: "m" });
  await served.call(one);
  expect(told).toEqual(["a:x/m", "a:x/m"]);
});

test("each failure that blames a key is reported with the key, and no other failure", async () => {
  const told: string[] = [];
  const served = keyed({
    random: () => 0,
    onKeyRejected: ({ name, key }) => told.push(`${name}:${key}`),
  });
  await served.call(one);
  for (const reason of ["auth", "quota", "limited", "failed"] as const) {
    served.answers["a:x"] = [failure(reason)];
    await served.call(one).catch(() => {});
  }
  expect(told).toEqual(["a:x"]);
});
