import { expect, test } from "bun:test";
import type { Receipt } from "../../ledger/receipt.ts";
import { watchSlowRequests } from "./slow-requests.ts";

const receipt: Receipt = {
  id: "req_1",
  accountId: "acct_1",
  keyId: "key_1",
  model: "talker",
  endpoint: "chat",
  provider: "spare",
  attempts: [
    { provider: "fake", model: "first", code: "upstream_error", startedMs: 20, durationMs: 500 },
    { provider: "spare", model: "second", startedMs: 700, durationMs: 9_300 },
  ],
  priceVersion: 1,
  units: {},
  reasoningTokens: 0,
  estimated: false,
  hold: 0n,
  cost: 0n,
  charged: 0n,
  vendorCost: undefined,
  outcome: "ok",
  firstByteMs: 3_000,
  durationMs: 10_000,
};

function watch(leastMs: number) {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const log = { warn: (message: string, fields = {}) => void lines.push({ message, ...fields }) };
  const see = watchSlowRequests({ leastMs, log, nowMs: () => nowMs });
  return { lines, see, later: (ms: number) => (nowMs += ms) };
}

test("says where the time went", () => {
  const { lines, see } = watch(3_000);
  see(receipt);
  expect(lines).toEqual([
    {
      message: "slow request",
      event: "slow_request",
      request_id: "req_1",
      account_id: "acct_1",
      key_id: "key_1",
      endpoint: "chat",
      model: "talker",
      provider: "spare",
      code: undefined,
      attempts: 2,
      first_byte_ms: 3_000,
      duration_ms: 10_000,
      before_ms: 20,
      retries_ms: 680,
      provider_ms: 2_300,
      reply_ms: 7_000,
    },
  ]);
});

test("a long stream that began soon is not slow; a call that failed late is", () => {
  const { lines, see } = watch(3_000);
  see({ ...receipt, firstByteMs: 2_999, durationMs: 800_000 });
  see({ ...receipt, firstByteMs: undefined, durationMs: 2_999, outcome: "upstream_timeout" });
  expect(lines).toEqual([]);
  see({ ...receipt, firstByteMs: undefined, outcome: "upstream_timeout" });
  expect(lines).toMatchObject([{ code: "upstream_timeout", provider_ms: 9_300, reply_ms: 0 }]);
});

test("one that no provider was asked for waited with us", () => {
  const { lines, see } = watch(1);
  const attempts = [{ provider: "", model: "", code: "upstream_unavailable" }];
  see({ ...receipt, attempts, provider: "", firstByteMs: undefined, durationMs: 50 });
  expect(lines).toMatchObject([{ attempts: 0, before_ms: 50, retries_ms: 0, provider_ms: 0 }]);
});

test("at most five lines per second, and the next one counts the rest", () => {
  const { lines, see, later } = watch(1);
  for (let at = 0; at < 12; at++) see(receipt);
  expect(lines.length).toBe(5);
  later(1_000);
  see(receipt);
  expect(lines.at(-1)).toMatchObject({ not_logged: 7 });
  see(receipt);
  expect(lines.at(-1)).not.toHaveProperty("not_logged");
});
