/** From an account's first call to its last cent, as its owner sees it. */

import { beforeAll, beforeEach, expect, test } from "bun:test";
import { toUsd } from "../../src/base/money.ts";
import { chatJson, usageOf } from "../fake/openai/chat-json.ts";
import { failures } from "../fake/recordings.ts";
import { willingVendor } from "../fake/willing-vendor.ts";
import { flash, hello, helloMost } from "../setup/money-home.ts";
import { expectRefusal, tile } from "./setup/operator-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

/** What a willing vendor's answer costs, and the worst case of the same call. */
const usual = 11n * flash.input + 8n * flash.cached + 10n * flash.output;
const most = BigInt(helloMost) * flash.input + 8_192n * flash.output;

const home = useMemberHome({ creditUsd: toUsd(2n * usual + most) });
const { window } = home;
beforeAll(() => window.goto(home.path("overview")));
beforeEach(() => home.gateway.upstream.replyWith(willingVendor));

async function call(): Promise<string> {
  const reply = await home.gateway.call("/chat/completions", hello);
  const body = (await reply.json()) as { readonly error?: { readonly code: string } };
  return `${reply.status} ${body.error?.code ?? "ok"}`;
}
const usage = async (query: Record<string, string> = {}) =>
  (await home.owner.ask("GET /api/accounts/:account/usage", { query })).body;
const standing = async () => (await home.owner.ask("GET /api/accounts/:account")).body;
const exactly = (label: string) => tile(window, label).locator("data").getAttribute("value");
const usedUp = () => window.page.getByRole("alert").filter({ hasText: "Out of credit" });

test("an account without a call is led to its first key", async () => {
  const { page } = window;
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  expect(await window.barriers()).toEqual([]);
  await page.getByRole("link", { name: "Create key" }).click();
  await page.getByRole("dialog", { name: "Create key" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
});

test("the first call turns the page into figures, which are those of the API", async () => {
  const { page } = window;
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await call()).toBe("200 ok");
  await tile(window, "Requests").getByText("1", { exact: true }).waitFor();
  expect(await exactly("Spend")).toBe(toUsd(usual));
  const { totals } = await usage();
  expect(totals).toMatchObject({ requests: 1, failures: 0, charged_usd: toUsd(usual) });
  expect(await tile(window, "Tokens").innerText()).toBe("29");
  expect(totals.input_tokens + totals.output_tokens).toBe(29);
});

test("a failure changes the figures without a reload", async () => {
  home.gateway.upstream.replyOnce(failures.internal());
  expect(await call()).toBe("502 upstream_error");
  await tile(window, "Error rate").getByText("50%").waitFor();
  expect(await tile(window, "Requests").innerText()).toBe("2");
  expect((await usage()).totals).toMatchObject({ requests: 2, failures: 1 });
});

test("the figures are told apart by key, and for other times", async () => {
  const { page } = window;
  await page.getByRole("radiogroup", { name: "Group by" }).getByText("By key").click();
  const table = page.getByRole("table", { name: "All metrics by key" });
  await table.waitFor();
  const { series } = await usage({ by: "key" });
  expect(await table.innerText()).toContain(series[0].label);
  await page.getByRole("radiogroup", { name: "Time range" }).getByText("1h").click();
  await page.getByText("Usage for this account in the last hour.").waitFor();
  await tile(window, "Requests").getByText("2", { exact: true }).waitFor();
  expect([...new URL(page.url()).searchParams]).toEqual([
    ["by", "key"],
    ["range", "1h"],
  ]);
  await page.reload();
  await page.getByText("Usage for this account in the last hour.").waitFor();
  await table.waitFor();
});

test("what is in the ledger adds up to the balance", async () => {
  const { page } = window;
  expect(await call()).toBe("200 ok");
  await page.getByRole("link", { name: "Billing" }).click();
  const ledger = page.getByRole("table", { name: /^Ledger for/ });
  await ledger.waitFor();
  expect(await exactly("Balance")).toBe(toUsd(most));
  expect((await standing()).balance_usd).toBe(toUsd(most));
  const figures = await ledger
    .getByRole("row")
    .evaluateAll((rows) =>
      rows
        .map((row) => [...row.querySelectorAll("data")].map(({ value }) => value))
        .filter((values) => values.length > 0),
    );
  expect(figures).toHaveLength(2);
  const nano = (usd = "") => BigInt(Math.round(Number(usd) * 1e9));
  expect(figures.reduce((sum, [amount]) => sum + nano(amount), 0n)).toBe(most);
  expect(figures[0]?.[1]).toBe(toUsd(most));
  expect(await usedUp().count()).toBe(0);
});

test("when the balance runs out, calls are refused, and an open page says so by itself", async () => {
  const { page } = window;
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
  // As much as was held for it.
  const spent = usageOf({ prompt: helloMost, completion: 8_192 });
  home.gateway.upstream.replyWith(chatJson({ usage: spent }));
  expect(await call()).toBe("200 ok");
  await usedUp().waitFor();
  expect(await usedUp().innerText()).toContain("Calls are rejected with 402");
  expect(await window.barriers()).toEqual([]);
  expect(await call()).toBe("402 insufficient_quota");
  expect((await standing()).free_usd).toBe("0.00");
  await usedUp().getByRole("link", { name: "View billing" }).click();
  await page.getByRole("heading", { level: 1, name: "Billing" }).waitFor();
  await usedUp().getByText("Ask the operator of this platform to add credit.").waitFor();
});

test("the playground says it in words, and what to do", async () => {
  const { page } = window;
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("link", { name: "Try it: svc-3-flash" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Say hello");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert").filter({ hasText: "Balance too low for this call" });
  await alert.waitFor();
  expect(await alert.innerText()).toContain("402 insufficient_quota");
  await alert.getByRole("link", { name: "View billing" }).waitFor();
  await expectRefusal(window, 402);
});

test("with the operator's credit calls work again, and the banner goes", async () => {
  const { page } = window;
  await page.getByRole("link", { name: "Overview" }).click();
  await usedUp().waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  const credited = await home.operator.ask("POST /api/accounts/:account/entries", {
    body: { kind: "credit", usd: "5", reference: "invoice 7" },
  });
  expect(credited.status).toBe(200);
  expect(await call()).toBe("200 ok");
  await usedUp().waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Billing" }).click();
  const row = page.getByRole("row", { name: /Credit\s+invoice 7/ });
  expect(await row.locator("data").first().getAttribute("value")).toBe("5.00");
});
