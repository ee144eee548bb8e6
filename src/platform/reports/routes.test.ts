import { beforeAll, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { hello } from "../../../test/setup/money-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform();
beforeAll(async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  for (const model of [hello.model, hello.model, "vendor/with-slash"])
    expect((await gateway.call("/chat/completions", { ...hello, model })).status).toBe(200);
});

const margin = (query: Readonly<Record<string, string>>) =>
  operator.ask("GET /api/margin", { query });

test("margin by model has what each was charged, and adds up to the total", async () => {
  const { body } = await margin({ by: "model" });
  const { spend } = await gateway.server.operations.accounts.show({ account: gateway.account });
  const today = new Date().toISOString().slice(0, 10);
  expect(body).toMatchObject({ by: "model", from: `${today.slice(0, 8)}01`, to: today });
  expect(
    body.rows.map(({ name, receipts, charged_usd }: Row) => [name, receipts, charged_usd]),
  ).toEqual(spend.by_model.map((row) => [row.model, row.receipts, row.charged_usd]));
  expect(body.total).toMatchObject({
    name: "total",
    receipts: 3,
    known_cost: 0,
    unknown_cost: 3,
    margin_usd: null,
  });
  const sum = body.rows.reduce((total: number, row: Row) => total + Number(row.charged_usd), 0);
  expect(Number(body.total.charged_usd)).toBeCloseTo(sum, 9);
  expect(sum).toBeGreaterThan(0);
});

interface Row {
  readonly name: string;
  readonly receipts: number;
  readonly charged_usd: string;
}

test("days before the first call have nothing to show", async () => {
  const { body } = await margin({ from: "2020-01-01", to: "2020-01-31" });
  expect(body).toMatchObject({ from: "2020-01-01", to: "2020-01-31", rows: [] });
  expect(body.total).toMatchObject({ receipts: 0, charged_usd: "0.00", margin_percent: null });
});
