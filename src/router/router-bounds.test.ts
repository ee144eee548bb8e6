import { expect, test } from "bun:test";
import { Call, failure, one, Served } from "../../test/setup/router-home.ts";
import { Router } from "./router.ts";

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
  expect(served.attempt?.tried).toEqual([`a/m upstream_error (${"x".repeat(200)})`]);
});
