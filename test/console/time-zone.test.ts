/** One time zone for a person: near midnight in Berlin, where the day is another than in UTC. */

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { chatAnswers } from "../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { hello } from "../setup/money-home.ts";
import { joinMember, joinOperator, type Visitor } from "../setup/platform-home.ts";
import { type ConsoleBrowser, openBrowser, type Window, windowOf } from "./setup/console-home.ts";
import { dialogBy, fill, openedDialog, submit, tile } from "./setup/operator-home.ts";
import { chooseItem } from "./setup/tab.ts";

/** 00:05 on November 16 in Berlin. */
const nowMs = Date.parse("2027-11-15T23:05:00Z");
const clock = { ms: nowMs };

let gateway: TestGateway;
let browser: ConsoleBrowser;
let operator: Visitor;
let owner: Visitor;
let window: Window;
const path = (page: string) => `/a/${gateway.account}/${page}`;

beforeAll(async () => {
  [gateway, browser] = await Promise.all([
    startTestGateway({ clock: { nowMs: () => clock.ms } }),
    openBrowser(),
  ]);
  operator = await joinOperator(gateway);
  owner = await joinMember(gateway, operator, { role: "owner" });
  gateway.upstream.replyWith(chatAnswers.plain());
  // On the 15th of Berlin, two hours ago, and on the 16th, now.
  for (const [agoMs, calls] of [
    [2 * 3_600_000, 2],
    [0, 1],
  ] as const) {
    clock.ms = nowMs - agoMs;
    for (let call = 0; call < calls; call++)
      expect((await gateway.call("/chat/completions", hello)).status).toBe(200);
  }
  window = await berlin(owner);
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
});
afterEach(() => expect(window.complaints).toEqual([]));

async function berlin(who: Visitor): Promise<Window> {
  const options = { cookie: who.cookie, timeZone: "Europe/Berlin", nowMs };
  const opened = await windowOf(browser, gateway, options);
  opened.page.setDefaultTimeout(20_000);
  return opened;
}

/** Of the chart's table: the newest days with their requests. */
async function dayRows({ page }: Window): Promise<readonly (readonly string[])[]> {
  const show = page.getByRole("button", { name: "Show as table: Requests", exact: true });
  if ((await show.count()) > 0) await show.click();
  const table = page.getByRole("table", { name: "Requests", exact: true });
  await table.waitFor();
  const rows = await table.getByRole("row").all();
  return Promise.all(
    rows.slice(1, 3).map(async (row) => (await row.getByRole("cell").allInnerTexts()).slice(0, 2)),
  );
}

test("charts use the days of the reader's time zone, which the page names once", async () => {
  await window.goto(`${path("overview")}?range=30d`);
  const zone = window.page.getByRole("link", { name: "Times in Europe/Berlin" });
  await zone.waitFor();
  expect(await zone.count()).toBe(1);
  expect(await dayRows(window)).toEqual([
    ["Tue, Nov 16, 2027", "1"],
    ["Mon, Nov 15, 2027", "2"],
  ]);
});

test("days of one's own choice begin at midnight there, are in the address and compared", async () => {
  const { page } = window;
  await page.getByRole("radiogroup", { name: "Time range" }).getByText("Custom").click();
  await fill(page, { "First day": "2027-11-16", "Last day": "2027-11-16" });
  await page.getByText("Usage for this account, Nov 16, 2027.").waitFor();
  await tile(window, "Requests").getByText("1", { exact: true }).waitFor();
  await page.getByText("−50% vs. previous day").first().waitFor();
  expect(new URL(page.url()).searchParams.get("from")).toBe("2027-11-16");
  await page.getByLabel("Compare with").selectOption("off");
  await page.getByText("vs. previous day").first().waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("Usage for this account, Nov 16, 2027.").waitFor();
  expect(await page.getByText("vs. previous day").count()).toBe(0);
});

test("a view is saved, opened, renamed and deleted", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "Views" }).click();
  await chooseItem(page, "Save current view");
  const save = await openedDialog(window, "Save current view");
  await save.getByLabel("Name").fill("Launch day");
  await save.getByRole("button", { name: "Save view" }).click();
  await page.getByRole("button", { name: "Launch day" }).waitFor();
  await window.goto(path("overview"));
  await page.getByRole("button", { name: "Views" }).click();
  await chooseItem(page, "Launch day");
  await page.getByText("Usage for this account, Nov 16, 2027.").waitFor();
  await page.getByRole("button", { name: "Launch day" }).click();
  await chooseItem(page, "Manage views");
  const manage = await openedDialog(window, "Saved views");
  await manage.getByLabel("Name of the view Launch day").fill("Launch");
  await manage.getByRole("button", { name: "Rename" }).click();
  await manage.getByRole("button", { name: "Delete the view Launch", exact: true }).click();
  await manage.getByText("No saved views.").waitFor();
  expect((await owner.ask("GET /api/me/views")).body).toEqual([]);
  await manage.getByRole("button", { name: "Close" }).click();
});

test("who chooses UTC in the profile sees the days of UTC, also after a reload", async () => {
  const { page } = window;
  await window.goto("/me");
  await page.getByRole("radiogroup", { name: "Time zone" }).getByText("UTC").click();
  await page.getByRole("link", { name: "Times in UTC" }).waitFor();
  await window.goto(`${path("overview")}?range=30d`);
  await page.getByRole("link", { name: "Times in UTC" }).waitFor();
  expect(await dayRows(window)).toEqual([
    ["Mon, Nov 15, 2027", "3"],
    ["Sun, Nov 14, 2027", "0"],
  ]);
});

test("the margin has the days of the reader, and is unknown without a cost", async () => {
  const own = await berlin(operator);
  await own.goto("/operator/margin?range=days&from=2027-11-16&to=2027-11-16");
  const { page } = own;
  await page.getByRole("link", { name: "Times in Europe/Berlin" }).waitFor();
  await tile(own, "Margin").getByText("Unknown").waitFor();
  await page.getByText("Unknown for the only request").waitFor();
  await page.getByLabel("First day").fill("2027-11-15");
  await page.getByText("Unknown for all 3 requests").waitFor();
  expect(own.complaints).toEqual([]);
});

test("the ledger has the days of the reader", async () => {
  const own = await berlin(operator);
  await own.goto(path("billing"));
  const dates = own.page.getByRole("table", { name: "Ledger for November 2027" }).locator("time");
  await dates.first().waitFor();
  // The credit was entered at 00:05, with the last call.
  expect(await dates.allInnerTexts()).toEqual(["Nov 16, 2027", "Nov 16, 2027", "Nov 15, 2027"]);
  expect(own.complaints).toEqual([]);
});

test("a row of just after midnight is found by the day that it shows", async () => {
  const own = await berlin(owner);
  await owner.ask("PATCH /api/me", { body: { time_zone: "local" } });
  await own.goto(path("requests"));
  const { page } = own;
  await page.getByRole("link", { name: "Times in Europe/Berlin" }).waitFor();
  const times = page.getByRole("table", { name: /^Requests/ }).locator("time");
  await times.first().waitFor();
  expect(await times.allInnerTexts()).toEqual(["00:05:00", "Nov 15, 22:05", "Nov 15, 22:05"]);
  await page.getByRole("button", { name: "Time: Any time" }).click();
  await page.getByLabel("From").fill("2027-11-16");
  await page.waitForFunction(() => document.querySelectorAll("table tbody tr").length === 1);
  expect(await times.allInnerTexts()).toEqual(["00:05:00"]);
  await page.getByLabel("To", { exact: true }).fill("2027-11-15");
  await page.getByText("No matches").waitFor();
  await page.getByRole("button", { name: "Yesterday" }).click();
  await page.waitForFunction(() => document.querySelectorAll("table tbody tr").length === 2);
  await page.getByRole("button", { name: "Time: Nov 15" }).waitFor();
  expect(own.complaints).toEqual([]);
});

test("the audit log has the days of the reader, in its headings and filters", async () => {
  const own = await berlin(operator);
  await own.goto("/operator/audit");
  const { page } = own;
  await page.getByRole("region", { name: "Nov 16, 2027" }).waitFor();
  const filters = page.getByRole("search", { name: "Filters" });
  await filters.getByLabel("From").fill("2027-11-16");
  await filters.getByLabel("To", { exact: true }).fill("2027-11-16");
  await page.getByRole("region", { name: "Nov 16, 2027" }).waitFor();
  await filters.getByLabel("From").fill("2027-11-15");
  await filters.getByLabel("To", { exact: true }).fill("2027-11-15");
  await page.getByRole("region", { name: "Nov 16, 2027" }).waitFor({ state: "detached" });
  expect(own.complaints).toEqual([]);
});

test("a key expires when the chosen day begins there", async () => {
  const own = await berlin(owner);
  await own.goto(`${path("keys")}?new=1`);
  const form = await openedDialog(own, "Create key");
  await form.getByLabel("Name").fill("until spring");
  await form.getByLabel("Expires").selectOption({ label: "Custom date" });
  await form.getByLabel("Date").fill("2028-03-01");
  await form.getByRole("button", { name: "Create key" }).click();
  await own.page
    .getByRole("dialog")
    .getByText(/shown only once/)
    .waitFor();
  const { body } = await owner.ask("GET /api/accounts/:account/keys");
  expect(body.map((key: { readonly expires_at: string | null }) => key.expires_at)).toContain(
    "2028-02-29T23:00:00Z",
  );
  expect(own.complaints).toEqual([]);
});

test("prices and retirement dates begin with the chosen day there, and show it", async () => {
  const { catalog, prices } = gateway.server.operations;
  const price = { input: "1", output: "2" };
  for (const id of ["late-one", "late-two"]) {
    await catalog.create({ id, routes: [{ provider: "fake", model: id }] });
    await prices.set({ model: id, price });
  }
  const coming = async (model: string) =>
    (await catalog.show({ id: model })).coming.map(({ effective_at: at }) => at);
  const own = await berlin(operator);
  const { page } = own;

  await own.goto("/operator/prices?find=late");
  const single = await dialogBy(own, "Set price of late-one", "Price of late-one");
  await single.getByLabel("From a date").check();
  await single.getByLabel(/^Date/).fill("2028-01-10");
  await submit(single, "Set price");
  expect(await coming("late-one")).toEqual(["2028-01-09T23:00:00Z"]);
  await page.getByText("from Jan 10, 2028").waitFor();

  for (const id of ["late-one", "late-two"]) await page.getByLabel(`Select ${id}`).check();
  const bulk = await dialogBy(own, "Set prices", "Set prices for 2 models");
  await bulk.getByRole("combobox", { name: "Price" }).selectOption("free");
  await bulk.getByLabel(/^Effective from/).fill("2028-07-01");
  await bulk.getByRole("button", { name: "Preview" }).click();
  await submit(bulk, "Save 2 models");
  // Summer time.
  expect(await coming("late-two")).toEqual(["2028-06-30T22:00:00Z"]);
  await page.getByText("from Jul 1, 2028").first().waitFor();

  await own.goto("/operator/catalog/late-two");
  const deprecate = await dialogBy(own, "Deprecate", "Deprecate late-two");
  await deprecate.getByLabel("Deprecated from (optional)").fill("2028-02-01");
  await deprecate.getByLabel(/^Retires on/).fill("2028-08-01");
  await submit(deprecate, "Deprecate");
  expect(await catalog.show({ id: "late-two" })).toMatchObject({
    deprecated_at: "2028-01-31T23:00:00Z",
    retires_at: "2028-07-31T22:00:00Z",
  });
  await page.getByText("from Aug 1, 2028").waitFor();
  // The dialog shows the days that were chosen.
  const again = await dialogBy(own, "Change dates", "Deprecate late-two");
  expect(await again.getByLabel(/^Retires on/).inputValue()).toBe("2028-08-01");
  expect(own.complaints).toEqual([]);
});

test("a budget is seen before it is used up", async () => {
  await operator.ask("PATCH /api/accounts/:account/limits", { body: { budget: "2/day" } });
  await window.goto(path("billing"));
  await window.page.getByText(/of the \$2\.00 budget spent today/).waitFor();
  expect(await window.barriers()).toEqual([]);
});
