import { beforeEach, describe, expect, test } from "bun:test";
import { Call, failure, left, modelOf, one, ranked, Served } from "../../test/setup/router-home.ts";
import { ApiError } from "../base/errors.ts";

let served: Served;
beforeEach(() => {
  served = new Served();
});

describe("by priority,", () => {
  test("the first rank serves alone as long as one of it can", async () => {
    const served = new Served({ random: Math.random });
    const model = modelOf({ priority: 2 }, { priority: 1 }, { priority: 1 }, { priority: 2 });
    for (let call = 0; call < 200; call++) await served.call(model);
    expect(new Set(served.asked)).toEqual(new Set(["b", "c"]));
  });

  test("one without a number belongs to the first rank", async () => {
    expect(await served.call(modelOf({ priority: 2 }, {}))).toBe("b");
  });

  test("the next rank is asked only after every target of the one before", async () => {
    const model = modelOf({ priority: 3 }, { priority: 2 }, { priority: 1 }, { priority: 1 });
    for (const name of ["b", "c", "d"]) served.answers[name] = [failure("timeout")];
    expect(await served.call(model)).toBe("a");
    expect(served.asked.slice(0, 2).toSorted()).toEqual(["c", "d"]);
    expect(served.asked.slice(2)).toEqual(["b", "a"]);
  });

  test("while the first rank is out or rests, the next one serves without a wait", async () => {
    for (const first of [failure("auth"), failure("limited", 1_000)]) {
      const served = new Served();
      served.answers["a"] = [first, "ok"];
      expect(await served.call(ranked)).toBe("b");
      expect(served.takeAsked()).toBe("ab");
      expect(await served.call(ranked)).toBe("b");
      expect(served.takeAsked()).toBe("b");
      served.nowMs += 30_000;
      expect(await served.call(ranked)).toBe("a");
      expect(served.pauses).toEqual([]);
    }
  });
});

test("among targets that can be asked, weights count; the share of one that is out is theirs", async () => {
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const served = new Served({ random });
  const model = modelOf({ weight: 6 }, { weight: 3 }, { weight: 1 });
  served.answers["a"] = [failure("quota")];
  while (served.stateOf("a") !== "open") await served.call(model);
  served.takeAsked();
  for (let call = 0; call < 8_000; call++) await served.call(model);
  const share = served.asked.filter((name) => name === "b").length / served.asked.length;
  expect(served.asked).not.toContain("a");
  expect(share).toBeGreaterThan(0.73);
  expect(share).toBeLessThan(0.77);
});

describe("targets that are out", () => {
  test("are not asked, and the caller hears what put them out, in our words", async () => {
    served.answers["a"] = [failure("auth", undefined, "a returned 401")];
    await served.call(one);
    const told = await served.call(one);
    expect(served.takeAsked()).toBe("a");
    expect(told).toMatchObject({ code: "upstream_unavailable", message: "auth" });
    expect((told as ApiError).detail).toContain("another 30 s: a returned 401");
    expect((told as ApiError).retryAfterMs).toBe(30_000);
  });

  test("for failing are told as failing, never as limited, whatever the others are", async () => {
    served.answers["a"] = [failure("failed")];
    served.answers["b"] = [failure("limited", 60_000)];
    while (served.stateOf("a") !== "open") await served.call(ranked);
    served.takeAsked();
    expect(await served.call(ranked)).toMatchObject({ code: "upstream_error" });
    expect(served.takeAsked()).toBe("");
  });

  test("for a while because they are overloaded are told as overloaded", async () => {
    served.answers["a"] = [failure("overloaded", 9_000)];
    await served.call(one);
    served.takeAsked();
    const told = (await served.call(one)) as ApiError;
    expect([told.code, told.retryAfterMs, served.takeAsked()]).toEqual([
      "upstream_overloaded",
      9_000,
      "",
    ]);
  });

  test("that are all limited are told so, with the soonest time", async () => {
    served.answers["a"] = [failure("limited", 40_000)];
    served.answers["b"] = [failure("limited", 20_000)];
    await served.call(ranked);
    served.nowMs += 5_000;
    served.takeAsked();
    const told = (await served.call(ranked)) as ApiError;
    expect([told.code, told.retryAfterMs]).toEqual(["upstream_rate_limited", 15_000]);
    expect(served.takeAsked()).toBe("");
  });

  test("are tried by one call at a time, the others being served elsewhere", async () => {
    served.answers["a"] = [failure("quota")];
    await served.call(ranked);
    served.nowMs += 30_000;
    const answer = Promise.withResolvers<string>();
    const trial = served.router.serve(ranked, new Call(), ({ provider }) =>
      provider.name === "a" ? answer.promise : Promise.reject(failure("failed")),
    );
    served.takeAsked();
    for (let call = 0; call < 20; call++) expect(await served.call(ranked)).toBe("b");
    expect(served.takeAsked()).toBe("b".repeat(20));
    answer.resolve("a");
    expect(await trial).toBe("a");
    served.answers["a"] = ["ok"];
    expect(await served.call(ranked)).toBe("a");
  });

  test("free the place of a trial whose caller has left", async () => {
    served.answers["a"] = [failure("quota"), "ok"];
    await served.call(ranked);
    served.nowMs += 30_000;
    const call = new Call();
    await served.router
      .serve(ranked, call, async () => {
        call.end();
        throw left;
      })
      .catch(() => {});
    expect(await served.call(ranked)).toBe("a");
  });

  test("are not asked by who waited when they were taken out meanwhile", async () => {
    served.answers["a"] = [failure("overloaded"), "ok"];
    served.answers["b"] = ["ok"];
    const only = modelOf({}, {}).routes[1];
    if (only === undefined) throw new Error("no route");
    served.onPause = () => {
      served.onPause = undefined;
      served.answers["b"] = [failure("auth")];
      void served.call({ ...one, routes: [only] });
    };
    expect(await served.call(ranked)).toBe("a");
    expect(served.takeAsked()).toBe("aba");
  });

  test("can be put back by hand: all of them, a provider's, or one", async () => {
    for (const name of ["a", "b", "c"]) served.answers[name] = [failure("auth")];
    const model = modelOf({}, {}, {});
    await served.call(model);
    const states = () => ["a", "b", "c"].map((name) => served.stateOf(name));
    expect(states()).toEqual(["open", "open", "open"]);
    expect(served.router.reset("b")).toBe(1);
    expect(states()).toEqual(["open", "closed", "open"]);
    expect(served.router.reset("c", "another")).toBe(0);
    expect(served.router.reset("c", "m")).toBe(1);
    expect(states()).toEqual(["open", "closed", "closed"]);
    expect(served.router.reset()).toBe(3);
    expect(states()).toEqual(["closed", "closed", "closed"]);
    served.answers["a"] = ["ok"];
    expect(await served.call(modelOf({ weight: 1 }, { weight: 0 }))).toBe("a");
  });

  test("are forgotten once no model leads to them, and only then", async () => {
    for (const name of ["a", "b"]) served.answers[name] = [failure("auth")];
    await served.call(ranked);
    served.router.keepOnly([one]);
    expect(served.router.health().map(({ provider }) => provider)).toEqual(["a"]);
    expect(served.stateOf("a")).toBe("open");
    // A new model with an old target knows what is held against it.
    served.takeAsked();
    await served.call({ ...one, id: "other" });
    expect(served.takeAsked()).toBe("");
  });
});

test("an answer that breaks off later is held against its target, once", async () => {
  for (let call = 0; call < 10; call++) {
    await served.call(one);
    served.attempt?.fail(failure("failed"));
    served.attempt?.fail(failure("failed"));
  }
  expect(served.router.health()[0]).toMatchObject({ state: "open", requests: 10, failures: 10 });
});

test("a model that is still loading is not held against its target", async () => {
  const served = new Served({ retries: 0 });
  served.answers["a"] = [new ApiError({ code: "model_loading", message: "soon" })];
  for (let call = 0; call < 20; call++)
    expect(await served.call(one)).toMatchObject({ code: "model_loading" });
  expect(served.stateOf("a")).toBe("closed");
});
