import { beforeAll, expect, test } from "bun:test";
import { chatAnswers } from "../fake/recordings.ts";
import { hello, waitUntil } from "../setup/money-home.ts";
import { tile, told } from "./setup/operator-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

const home = useMemberHome({ creditUsd: "0" });
beforeAll(() => {
  home.gateway.upstream.replyWith(chatAnswers.plain());
});

const chat = async (rest: object = {}) =>
  (await home.gateway.call("/chat/completions", { ...hello, ...rest })).status;

test("the overview shows calls that were all rejected, as they come, and not the first steps", async () => {
  const { window, path } = home;
  const { page } = window;
  await window.goto(path("overview"));
  await page.getByRole("heading", { name: "Make your first call" }).waitFor();
  for (let at = 0; at < 5; at++) expect(await chat()).toBe(402);
  await page.getByText("Every call so far was rejected.").waitFor();
  expect(await page.getByRole("heading", { name: "Make your first call" }).count()).toBe(0);
  expect(await page.getByText("No calls in").count()).toBe(0);
  const errors = page.getByRole("term").filter({ hasText: "Error rate" }).locator("..");
  await told(errors, "0 errors · 5 rejected");
  expect(await tile(window, "Error rate").innerText()).toBe("0%");
  expect(await tile(window, "Requests").innerText()).toBe("0");
  expect(await window.barriers()).toEqual([]);
});

test("charts have a band of rejected calls, and the error rate counts admitted calls alone", async () => {
  const { window, gateway, path } = home;
  const { page } = window;
  await gateway.server.operations.entries.add({
    account: gateway.account,
    kind: "credit",
    usd: "5",
    reference: "late",
  });
  for (let at = 0; at < 3; at++) expect(await chat()).toBe(200);
  expect(await chat({ temperature: 9 })).toBe(400);
  const chart = page.getByRole("region", { name: "Requests", exact: true });
  // Sums of receipts may be a few seconds old.
  await waitUntil("all calls in the chart", async () => {
    await window.goto(path("overview"));
    return /Successful\s*3\s*Errors\s*0\s*Rejected\s*6/.test(await chart.innerText());
  });
  const row = page.getByRole("row", { name: /^svc-3-flash/ });
  expect((await row.getByRole("cell").allInnerTexts()).slice(2, 5)).toEqual(["3", "0", "6"]);
  await page.getByLabel("Metric", { exact: true }).selectOption("Rejected");
  await page.getByRole("heading", { name: "Rejected by model" }).waitFor();
  const errors = page.getByRole("term").filter({ hasText: "Error rate" }).locator("..");
  await told(errors, "0 errors · 6 rejected");
});

test("a key shows its rejected calls, which lead to their list", async () => {
  const { window, path } = home;
  const { page } = window;
  await window.goto(path("keys"));
  const row = page.getByRole("table", { name: "Active keys" }).getByRole("row").nth(1);
  await row.getByText("1 × 400 in the last hour").waitFor();
  await row.getByRole("link", { name: "5 × 402 in the last hour" }).click();
  const list = page.getByRole("table", { name: "Rejected calls, newest first" });
  await list.waitFor();
  expect(await list.locator("tbody tr").count()).toBe(5);
  const told = await list.innerText();
  expect(told).toContain("insufficient_quota");
  expect(told).not.toContain("400");
});
