import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../../test/setup/harness.ts";
import { hello } from "../../../test/setup/money-home.ts";
import {
  joinMember,
  joinOperator,
  nobody,
  type Visitor,
} from "../../../test/setup/platform-home.ts";
import { fromUsd, toUsd } from "../../base/money.ts";

const startMs = Date.parse("2027-03-15T12:00:00Z");
const clock = { ms: startMs };

let gateway: TestGateway;
let operator: Visitor;
let viewer: Visitor;

beforeAll(async () => {
  gateway = await startTestGateway({ clock: { nowMs: () => clock.ms }, creditUsd: "10" });
  gateway.upstream.replyWith(chatAnswers.plain());
  operator = await joinOperator(gateway);
  viewer = await joinMember(gateway, operator, { account: gateway.account, role: "viewer" });
});
afterAll(() => gateway.stop());
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

test("there is a page a month since the account was made", async () => {
  clock.ms = Date.parse("2027-05-02T00:00:00Z");
  // Whoever signed in two months ago is no longer signed in.
  const { body } = await ask(await joinOperator(gateway), { query: { month: "2027-04" } });
  expect(body.ledger).toMatchObject({
    month: "2027-04",
    previous_month: "2027-03",
    next_month: "2027-05",
    lines: [],
  });
  expect(body.ledger.opening_usd).toBe(body.ledger.closing_usd);
});

test.each(["2027-02", "2027-04", "2027-13", "march", "2027-03-01"])(
  "the month %s, which the account has not seen, is refused at its field",
  async (month) => {
    const { status, body } = await ask(viewer, { query: { month } });
    expect({ status, field: body.error.field }).toEqual({ status: 400, field: "month" });
  },
);

test("only who belongs to an account sees its books", async () => {
  const other = await gateway.server.operations.createAccount({ name: "strangers" });
  expect((await ask(viewer, { account: other.id })).status).toBe(404);
  expect((await ask(nobody(gateway.platformUrl))).status).toBe(401);
  expect((await ask(operator, { account: other.id })).body.balance_usd).toBe("0.00");
});
