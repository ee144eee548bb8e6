import { beforeEach, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { hello } from "../../../test/setup/money-home.ts";
import { type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";
import { fromUsd, toUsd } from "../../base/money.ts";

const startMs = Date.parse("2027-03-15T12:00:00Z");
const clock = { ms: startMs };

const { gateway, viewer } = usePlatform({
  clock: { nowMs: () => clock.ms },
  creditUsd: "10",
  reply: chatAnswers.plain(),
  members: ["viewer"],
});
beforeEach(() => {
  clock.ms = startMs;
});

const ask = (who: Visitor, options: { account?: string; query?: Record<string, string> } = {}) =>
  who.ask("GET /api/accounts/:account/billing", {
    params: { account: options.account ?? gateway.account },
    query: options.query ?? {},
  });

test("a viewer sees the balance, and a ledger whose lines add up to it", async () => {
  const reply = await gateway.call("/chat/completions", hello);
  expect(reply.status).toBe(200);
  await reply.arrayBuffer();
  const { status, body } = await ask(viewer);
  expect(status).toBe(200);
  const [usage, credit] = body.ledger.lines;
  expect(usage).toMatchObject({
    kind: "usage",
    at: "2027-03-15",
    model: hello.model,
    receipts: 1,
    reference: null,
  });
  expect(credit).toMatchObject({ kind: "credit", amount_usd: "10.00", balance_usd: "10.00" });
  const charged = fromUsd(body.spend.charged_usd) ?? 0n;
  expect(charged).toBeGreaterThan(0n);
  expect(usage.amount_usd).toBe(toUsd(-charged));
  expect(body.balance_usd).toBe(toUsd((fromUsd("10") ?? 0n) - charged));
  expect(body.ledger.closing_usd).toBe(body.balance_usd);
  expect(body.spend).toMatchObject({
    month: "2027-03",
    receipts: 1,
    by_model: [{ model: hello.model, receipts: 1 }],
  });
});
