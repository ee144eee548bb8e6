import { expect, test } from "bun:test";
import { ApiError, type ErrorCode } from "../base/errors.ts";
import type { Model } from "../catalog/model.ts";
import type { RoutedCall } from "./attempt.ts";
import { Router } from "./router.ts";

const modelWith = (...weights: number[]): Model => ({
  id: "m",
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 0,
  lifecycle: {},
  prices: [],
  routes: weights.map((weight, at) => ({ provider: `p${at}`, model: `m${at}`, weight })),
});
const findProvider = (name: string) => ({ name });
const callWith = (controller = new AbortController()): RoutedCall => ({
  accountId: "acct_one",
  signal: controller.signal,
  get isOver() {
    return controller.signal.aborted;
  },
  beginAttempt() {},
});
const waiting = callWith();
const fail = (code: ErrorCode, retryAfterMs?: number) =>
  new ApiError({ code, message: code, retryAfterMs });

test("chooses targets in proportion to their weights", async () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const router = new Router({ findProvider, random });
  const counts: Record<string, number> = {};
  for (let call = 0; call < 10_000; call++) {
    const name = await router.serve(
      modelWith(3, 1, 0),
      waiting,
      async ({ provider }) => provider.name,
    );
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts["p0"]).toBeGreaterThan(7300);
  expect(counts["p0"]).toBeLessThan(7700);
  expect(counts["p2"]).toBeUndefined();
});

test("tries every other target once after a failure, one of weight 0 last", async () => {
  const router = new Router({ findProvider });
  const tried: string[] = [];
  const answer = router.serve(modelWith(0, 1, 1), waiting, async ({ provider }) => {
    tried.push(provider.name);
    if (provider.name !== "p0") throw fail("upstream_error");
    return "served";
  });
  expect(await answer).toBe("served");
  expect(tried.toSorted()).toEqual(["p0", "p1", "p2"]);
  expect(tried[2]).toBe("p0");
});

const outcomes = async (codes: readonly ErrorCode[]) => {
  const router = new Router({ findProvider, random: () => 0.5 });
  let at = 0;
  const error = await router
    .serve(modelWith(...codes.map(() => 1)), waiting, async () => {
      at++;
      throw fail(codes[at - 1] ?? "internal_error", at * 1000);
    })
    .catch((thrown: unknown) => thrown);
  return { error: error as ApiError, tries: at };
};

test("says limited only when every target is limited, with the shortest wait", async () => {
  const limited = await outcomes(["upstream_rate_limited", "upstream_rate_limited"]);
  expect([limited.error.code, limited.error.retryAfterMs, limited.tries]).toEqual([
    "upstream_rate_limited",
    1000,
    2,
  ]);
  const mixed = await outcomes(["upstream_rate_limited", "upstream_overloaded"]);
  expect([mixed.error.code, mixed.tries]).toEqual(["upstream_overloaded", 2]);
});

test("does not carry a refused request to another target", async () => {
  for (const code of [
    "upstream_rejected",
    "context_length_exceeded",
    "content_filtered",
    "internal_error",
  ] as const) {
    const { error, tries } = await outcomes([code, "upstream_error"]);
    expect([error.code, tries]).toEqual([code, 1]);
  }
});

test("stops when the caller has left", async () => {
  const controller = new AbortController();
  const left = fail("internal_error");
  const router = new Router({ findProvider });
  let tries = 0;
  const answer = router.serve(modelWith(1, 1), callWith(controller), async () => {
    tries++;
    controller.abort(left);
    throw fail("upstream_error");
  });
  expect(await answer.catch((error: ApiError) => error.code)).toBe("upstream_error");
  expect(tries).toBe(1);
});

test("a model without a usable provider is unavailable, not broken", async () => {
  const router = new Router({ findProvider: () => undefined });
  const error = await router
    .serve(modelWith(1), waiting, async () => 1)
    .catch((thrown: ApiError) => thrown.code);
  expect(error).toBe("upstream_unavailable");
});
