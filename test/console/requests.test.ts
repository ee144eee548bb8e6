import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { failures } from "../fake/recordings.ts";
import { willingVendor } from "../fake/willing-vendor.ts";
import { standardManifest } from "../setup/harness.ts";
import { hello } from "../setup/money-home.ts";
import { exportCsv } from "./setup/operator-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

/** More than the page asks for at once. */
const pageSize = 50;
const count = 56;
const other = { ...hello, model: "vendor/with-slash" };
const twoTargets = `
  two-targets: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: upstream-a, priority: 1 }, { provider: fake, model: upstream-b, priority: 2 }] }
`;

const home = useMemberHome({ manifest: standardManifest + twoTargets });
const { window } = home;
let batch: string;
let failed: string;
beforeAll(async () => {
  const { gateway } = home;
  gateway.upstream.replyWith(willingVendor);
  batch = (await gateway.server.operations.keys.create({ account: gateway.account, name: "batch" }))
    .key;
  await Promise.all(Array.from({ length: count - 3 }, () => call()));
  await call(other, batch);
  await call(other, batch);
  gateway.upstream.replyOnce(failures.internal());
  failed = await call();
  await window.goto(home.path("requests"));
});

/** Gives the id of the request. */
async function call(body: Record<string, unknown> = hello, key = home.gateway.key) {
  const reply = await home.gateway.call("/chat/completions", body, {
    headers: { authorization: `Bearer ${key}` },
  });
  await reply.text();
  return reply.headers.get("x-request-id") ?? "";
}

const table = () => window.page.getByRole("table", { name: /^Requests/ });
const links = () => table().getByRole("link");
/** The ids of the rows, as their links have them. */
const shownIds = async () =>
  (await links().evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""))).map(
    (href) => href.split("/").at(-1) ?? "",
  );
const rowsAre = (expected: number) =>
  window.page.waitForFunction(
    (wanted) => document.querySelectorAll("table tbody tr").length === wanted,
    expected,
  );
const filters = () => window.page.getByRole("region", { name: "Filters" });
const address = () => new URL(window.page.url()).searchParams;
async function listed(query: Record<string, string>): Promise<readonly string[]> {
  const { body } = await home.owner.ask("GET /api/accounts/:account/requests", {
    query: { limit: "200", ...query },
  });
  return body.requests.map(({ id }: { readonly id: string }) => id);
}

test("the newest come first, and the older ones when asked for", async () => {
  await rowsAre(pageSize);
  await window.page.getByRole("button", { name: "Load more" }).click();
  await rowsAre(count);
  expect(await window.page.getByRole("button", { name: "Load more" }).count()).toBe(0);
  expect(await shownIds()).toEqual([...(await listed({}))]);
});

test("filters by model and key are in the address, and last over a reload", async () => {
  const { page } = window;
  await filters().getByLabel("Model").selectOption("vendor/with-slash");
  await rowsAre(2);
  expect(address().get("model")).toBe("vendor/with-slash");
  await filters().getByLabel("Key").selectOption({ label: "batch" });
  await page.reload();
  await rowsAre(2);
  expect(await shownIds()).toEqual([...(await listed({ model: "vendor/with-slash" }))]);
  expect(await table().innerText()).toContain("batch");
  await filters().getByRole("button", { name: "Clear filters" }).click();
  await rowsAre(pageSize);
  expect([...address().keys()]).toEqual([]);
});

test("the CSV has the very rows that the page shows", async () => {
  const { page } = window;
  await filters().getByLabel("Key").selectOption({ label: "batch" });
  await rowsAre(2);
  const { name, header, lines } = await exportCsv(page);
  expect(name).toMatch(/^requests.*\.csv$/);
  const ids = lines.map((line) => line.split(",")[header.split(",").indexOf("id")] ?? "");
  expect(ids.toReversed()).toEqual(await shownIds());
  expect(header).not.toMatch(/provider|vendor/);
  await filters().getByRole("button", { name: "Clear filters" }).click();
});

test("one is found by its id, and a search without a hit says what to do", async () => {
  const { page } = window;
  const [id = ""] = (await listed({})).slice(9);
  await filters().getByLabel("Request ID").fill(id);
  await rowsAre(1);
  expect(await shownIds()).toEqual([id]);
  expect(address().get("id")).toBe(id);
  await filters().getByLabel("Request ID").fill("req_nobody");
  await page.getByText("No matches").waitFor();
  await page.getByRole("main").getByRole("button", { name: "Clear filters" }).last().click();
  await rowsAre(pageSize);
});

test("a call appears by itself once it has ended, and opens with the keyboard", async () => {
  const { page } = window;
  await page.getByText("Live", { exact: true }).waitFor();
  const id = await call();
  const link = page.locator(`a[href$="/requests/${id}"]`);
  await link.waitFor();
  expect((await shownIds())[0]).toBe(id);
  await link.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Request" }).waitFor();
  await page.getByRole("heading", { name: "Cost", exact: true }).waitFor();
  const told = await page.getByRole("main").innerText();
  expect(told).toContain(id);
  expect(told).toContain("1 attempt.");
  await page.getByText("adds up").waitFor();
  const { body } = await home.owner.ask("GET /api/accounts/:account/requests/:id", {
    params: { id },
  });
  // 11 of input, 8 of cached input, 10 of output.
  expect(body.charged_usd).toBe("0.00002854");
  expect(told).toContain("$0.00002854");
});

test("while a filter is set, only calls that it lets through appear", async () => {
  const { page } = window;
  await page.getByRole("link", { name: "All requests" }).click();
  await filters().getByLabel("Key").selectOption({ label: "batch" });
  await rowsAre(2);
  const hidden = await call();
  const shown = await call(other, batch);
  await page.locator(`a[href$="/requests/${shown}"]`).waitFor();
  expect(await shownIds()).not.toContain(hidden);
  await rowsAre(3);
});

test("the total is shown, and rows sort by cost and duration, both ways and back", async () => {
  const { page } = window;
  await filters().getByRole("button", { name: "Clear filters" }).click();
  const total = (await listed({})).length;
  await page.getByText(`${total} requests`, { exact: true }).waitFor();
  for (const by of ["Cost", "Duration"]) {
    const sort = by.toLowerCase();
    const header = page.getByRole("columnheader", { name: by });
    for (const [order, word] of [
      ["desc", "descending"],
      ["asc", "ascending"],
    ] as const) {
      await header.getByRole("button").click();
      await page.locator(`th[aria-sort="${word}"]`).waitFor();
      const expected = (await listed({ sort, order })).slice(0, pageSize);
      await page.waitForFunction(
        (first) => document.querySelector("table tbody a")?.getAttribute("href")?.endsWith(first),
        expected[0] ?? "",
      );
      expect(await shownIds()).toEqual([...expected]);
      expect([address().get("sort"), address().get("order") ?? "desc"]).toEqual([sort, order]);
    }
    await header.getByRole("button").click();
    await table().waitFor();
    expect([...address().keys()]).toEqual([]);
  }
});

test("while live rows are paused new ones wait, counted, until one looks", async () => {
  const { page } = window;
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause live rows" }).click();
  const before = await shownIds();
  const [first, second] = [await call(), await call()];
  await page.getByRole("button", { name: "2 new" }).waitFor();
  expect(await shownIds()).toEqual(before);
  await page.getByRole("button", { name: "2 new" }).click();
  await page.locator(`a[href$="/requests/${second}"]`).waitFor();
  expect((await shownIds()).slice(0, 2)).toEqual([second, first]);
  await page.getByRole("button", { name: "Resume live rows" }).click();
});

test("the HTTP status is a filter, and rejected calls are a list of their own", async () => {
  const { page } = window;
  await filters().getByLabel("HTTP status").selectOption("502");
  await rowsAre(1);
  expect(await shownIds()).toEqual([failed]);
  await filters().getByLabel("API format").selectOption({ label: "Chat Completions" });
  await page.waitForURL(/dialect=chat/);
  await rowsAre(1);
  await filters().getByLabel("API format").selectOption({ label: "Messages" });
  await page.waitForURL(/dialect=messages/);
  await rowsAre(0);
  await filters().getByRole("button", { name: "Clear filters" }).click();
  // More than are listed one by one.
  for (let at = 0; at < 12; at++) await call({ ...hello, model: "no-such-model" }, batch);
  await page.getByText("12 rejected").waitFor();
  await page.getByRole("button", { name: "Show rejected" }).click();
  const list = page.getByRole("table", { name: "Rejected calls, newest first" });
  await list.waitFor();
  expect(await list.innerText()).toMatch(/batch[^]*403[^]*model_not_allowed[^]*no-such-model/);
  expect(await refusedCalls()).toBe(12);
  expect(address().get("outcome")).toBe("rejected");
  expect(await filters().getByLabel("Provider").count()).toBe(0);
});

/** The sum of the list's last column. */
const refusedCalls = async () =>
  (
    await window.page
      .getByRole("table", { name: "Rejected calls, newest first" })
      .locator("tbody tr td:last-child")
      .allInnerTexts()
  ).reduce((sum, text) => sum + Number(text), 0);

test("a call that is refused appears by itself, can be filtered and is exported", async () => {
  const { page } = window;
  await call({ ...hello, temperature: 9 }, batch);
  await page.getByText("temperature must be").waitFor();
  expect(await refusedCalls()).toBe(13);
  await filters().getByLabel("HTTP status").selectOption("400");
  await rowsAre(1);
  const { name, header, lines } = await exportCsv(page);
  expect(name).toBe("rejections.csv");
  expect(header).toBe(
    "id,at,account,key,key_name,model,endpoint,status,code,message,count,dialect",
  );
  expect(lines).toEqual([expect.stringContaining(",chat,400,")]);
});

test("an operator filters by a key of any account, found by its name", async () => {
  const operators = await home.openOther(home.operator);
  const { page } = operators;
  await operators.goto("/operator/requests");
  const key = page.getByRole("combobox", { name: "Key" });
  await key.fill("bat");
  await page.getByRole("option", { name: /^batch · / }).click();
  await page.waitForFunction(() => document.querySelectorAll("table tbody tr").length === 3);
  const id = new URL(page.url()).searchParams.get("key");
  expect(id).toStartWith("key_");
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll("table tbody tr").length === 3);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("input")].some(({ value }) => value.startsWith("batch · ")),
  );
  expect(await operators.barriers()).toEqual([]);
  await page.getByLabel("Outcome").selectOption("rejected");
  await page.getByText("temperature must be").waitFor();
});

test.each([1_280, 390])(
  "at %i px nothing overflows, and the filters are in one row",
  async (width) => {
    const { page } = window;
    await page.setViewportSize({ width, height: 900 });
    await window.goto(home.path("requests"));
    await rowsAre(pageSize);
    const over = await page.evaluate(() => {
      const cells = [...document.querySelectorAll("td, th")].filter(
        (cell) =>
          cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).display !== "none",
      );
      return {
        page: document.documentElement.scrollWidth - globalThis.innerWidth,
        cells: cells.map((cell) => cell.textContent),
      };
    });
    expect(over.page).toBeLessThanOrEqual(0);
    if (width === 1_280) {
      expect(over.cells).toEqual([]);
      const tops = await filters()
        .locator("select, input, button:visible")
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
      expect(new Set(tops).size).toBe(1);
    } else {
      const [row] = await page.locator("table tbody tr").all();
      const height = (await row?.boundingBox())?.height ?? 0;
      expect(height).toBeLessThan(80);
      expect(await row?.innerText()).toMatch(/OK\s+sk-svc-…\S+ · 19 in · 10 out/);
    }
    await page.setViewportSize({ width: 1_280, height: 900 });
  },
);

const vendorNames = /fake|upstream-chat|The server had an error/;

test("a failure is told without the vendor to members, and with it to the operator", async () => {
  const { page } = window;
  await filters().getByLabel("Outcome").selectOption({ label: "All errors" });
  await rowsAre(1);
  expect(await shownIds()).toEqual([failed]);
  await links().first().click();
  await page.getByRole("list", { name: "Attempts", exact: true }).waitFor();
  const told = await page.getByRole("main").innerText();
  expect(told).toContain("Provider error");
  expect(told).toContain("upstream_error");
  expect(told).not.toMatch(vendorNames);
  const { body } = await home.owner.ask("GET /api/accounts/:account/requests/:id", {
    params: { id: failed },
  });
  expect(JSON.stringify(body)).not.toMatch(vendorNames);

  const operators = await home.openOther(home.operator);
  await operators.goto(`/operator/requests/${failed}`);
  const attempts = await operators.page
    .getByRole("list", { name: "Attempts", exact: true })
    .innerText();
  expect(attempts).toMatch(/fake\s+upstream-chat/);
  expect(attempts).toContain("500");
});

test("each attempt has a bar of its own on the timeline, which older receipts lack", async () => {
  const { upstream, dataDir } = home.gateway;
  upstream.replyOnce(failures.internal());
  const id = await call({ ...hello, model: "two-targets" });
  const { body } = await home.operator.ask("GET /api/requests/:id", { params: { id } });
  expect(body.attempts).toMatchObject([
    { model: "upstream-a", outcome: "upstream_error", status: 500 },
    { model: "upstream-b", outcome: "served", status: null },
  ]);
  const { page } = window;
  await window.goto(home.path(`requests/${id}`));
  const bars = page.getByRole("list", { name: "Attempts over time" });
  const rows = bars.getByRole("listitem");
  await rows.nth(1).waitFor();
  expect(await rows.count()).toBe(2);
  expect(await bars.innerText()).toMatch(/Attempt 1\s+\d+ ms[^]*Attempt 2\s+\d+ ms/);
  expect(await page.getByRole("main").innerText()).not.toMatch(vendorNames);

  const raw = new Database(join(dataDir, "svc.db"));
  raw.run("update receipts set attempts = ? where id = ?", [
    "fake/upstream-a upstream_error (fake returned 500), fake/upstream-b",
    id,
  ]);
  raw.close();
  await page.reload();
  await page.getByRole("list", { name: "Attempts", exact: true }).waitFor();
  expect(await page.getByText("2 attempts, in order.").count()).toBe(1);
  expect(await bars.count()).toBe(0);
});

test("a request of nobody's is told in words", async () => {
  await window.goto(home.path("requests/req_nothing"));
  await window.page.getByText("Request not found").waitFor();
  expect(window.complaints.splice(0)).toEqual([expect.stringContaining("404")]);
});
