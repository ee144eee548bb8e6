/** A key whose secret was rotated is one key: with one limit, one budget and one payment. */

import { beforeEach, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { hello, openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const keys = () => gateway.server.operations.keys;
const chatWith = (key: string, headers: Record<string, string> = {}) =>
  gateway.call("/chat/completions", hello, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
const codeOf = async (key: string) => (await refusalOf(await chatWith(key))).code;

test("has one limit and one budget for both secrets", async () => {
  const limited = await openPayer(gateway);
  await keys().setLimits({ id: limited.keyId, rpm: "2" });
  const second = await keys().rotate({ id: limited.keyId });
  for (const key of [limited.key, second.key]) expect((await chatWith(key)).status).toBe(200);
  for (const key of [limited.key, second.key])
    expect(await codeOf(key)).toBe("rate_limit_exceeded");

  const poor = await openPayer(gateway, { budget: "0.000001" });
  const third = await keys().rotate({ id: poor.keyId });
  for (const key of [poor.key, third.key]) expect(await codeOf(key)).toBe("budget_exceeded");
});

test("pays once for an Idempotency-Key, whichever secret it comes with", async () => {
  const payer = await openPayer(gateway);
  const once = { "idempotency-key": "order-1" };
  expect((await chatWith(payer.key, once)).status).toBe(200);
  const { key } = await keys().rotate({ id: payer.keyId });
  const again = await chatWith(payer.key, once);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  await again.arrayBuffer();
  // The reply is sealed with the secret that asked for it; nobody else gets it, and nobody pays.
  const other = await chatWith(key, once);
  expect(other.headers.get("x-original-request-id")).toStartWith("req_");
  expect(await refusalOf(other)).toMatchObject({ status: 409, code: "idempotency_key_reused" });
  await payer.settled(1);
  expect(gateway.upstream.requests).toHaveLength(1);
});
