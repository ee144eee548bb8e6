import { expect, test } from "bun:test";
import { Call, failure, modelOf, one, ranked, Served } from "../../test/setup/router-home.ts";
import { ApiError, type ErrorCode } from "../base/errors.ts";
import { Router } from "./router.ts";

/** The answers of a model whose targets fail with these, each with a longer wait. */
function failing(...answers: readonly ErrorCode[]) {
  const served = new Served({ retries: 0 });
  for (const [at, code] of answers.entries())
    served.answers["ab"[at] ?? ""] = [
      new ApiError({ code, message: code, retryAfterMs: (at + 1) * 1_000 }),
    ];
  return served;
}

test("targets serve in proportion to their weights, and one of weight 0 not at all", async () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const served = new Served({ random });
  const model = modelOf({ weight: 3 }, { weight: 1 }, { weight: 0 });
  for (let call = 0; call < 10_000; call++) await served.call(model);
  expect(served.asked).not.toContain("c");
  expect(served.asked.filter((name) => name === "a").length).toBeWithin(7_300, 7_700);
});

test("one of weight 0 is asked after all others have failed", async () => {
  const served = new Served();
  for (const name of ["b", "c"]) served.answers[name] = [failure("timeout")];
  expect(await served.call(modelOf({ weight: 0 }, {}, {}))).toBe("a");
  expect(served.asked.toSorted()).toEqual(["a", "b", "c"]);
  expect(served.asked.at(-1)).toBe("a");
});

test("a call is told that it is limited only where every target is, with the shortest wait", async () => {
  expect(
    await failing("upstream_rate_limited", "upstream_rate_limited").call(ranked),
  ).toMatchObject({ code: "upstream_rate_limited", retryAfterMs: 1_000 });
  const mixed = failing("upstream_rate_limited", "upstream_overloaded");
  expect(await mixed.call(ranked)).toMatchObject({ code: "upstream_overloaded" });
  expect(mixed.takeAsked()).toBe("ab");
});

test.each([
  "upstream_rejected",
  "context_length_exceeded",
  "content_filtered",
  "internal_error",
] as const)("a call that ends with %s is not carried to another target", async (code) => {
  const served = failing(code, "upstream_error");
  expect(await served.call(ranked)).toMatchObject({ code });
  expect(served.takeAsked()).toBe("a");
});

test("a call whose caller has left asks nobody any more", async () => {
  const served = new Served();
  const call = new Call();
  served.answers["a"] = [failure("failed")];
  served.onAsk = () => call.end();
  expect(await served.call(ranked, call)).toMatchObject({ code: "upstream_error" });
  expect(served.takeAsked()).toBe("a");
});

test("a model without a usable provider is unavailable, not broken", async () => {
  const served = new Served({ findProvider: () => undefined });
  expect(await served.call(one)).toMatchObject({ code: "upstream_unavailable" });
});

/** Counts who listens for the end of the call. */
class Watched extends Call {
  listeners = 0;

  constructor() {
    super();
    const { signal } = this;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...words: Parameters<typeof add>) => {
      this.listeners++;
      add(...words);
    };
    signal.removeEventListener = (...words: Parameters<typeof remove>) => {
      this.listeners--;
      remove(...words);
    };
  }
}

test("a pause that is over listens for the end of its call no longer", async () => {
  const call = new Watched();
  const router = new Router({ findProvider: (name) => ({ name }), retries: 2, random: () => 0 });
  const heard: number[] = [];
  const served = await router.serve(one, call, async ({ provider }) => {
    heard.push(call.listeners);
    if (heard.length < 3) throw failure("failed");
    return provider.name;
  });
  expect([served, heard]).toEqual(["a", [0, 0, 0]]);
});

test("nobody is told to come back sooner than in a second", async () => {
  const limited = new Served({ retries: 0 });
  limited.answers["a"] = [failure("limited", 300)];
  expect(await limited.call(one)).toMatchObject({
    code: "upstream_rate_limited",
    retryAfterMs: 1_000,
  });
  // Neither by the word of a target that is out and was not asked: it comes back in 300 ms.
  const failing = new Served({ retries: 0 });
  failing.answers["a"] = [failure("failed")];
  for (let call = 0; call < 5; call++) await failing.call(one);
  failing.nowMs += 4_700;
  failing.takeAsked();
  expect(await failing.call(one)).toMatchObject({ code: "upstream_error", retryAfterMs: 1_000 });
  expect(failing.takeAsked()).toBe("");
});

test("what a target says of its failure stands on a receipt only as far as it is short", async () => {
  const served = new Served({ retries: 0 });
  served.answers["a"] = [failure("failed", undefined, "x".repeat(10_000))];
  await served.call(one);
  expect(served.attempt?.failures).toMatchObject([{ detail: "x".repeat(200) }]);
});
