import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatUsd, formatUsdTo, usdPlaces } from "../../../console/src/format/money.ts";
import { chatAnswers } from "../../fake/recordings.ts";
import { hello } from "../../setup/money-home.ts";
import { briefGateway, joinOperator } from "../../setup/platform-home.ts";
import { windowOf } from "../setup/console-home.ts";
import { exportCsv, fill, tile, told } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const secret = "correct-horse-battery-staple-0123456789";
const manifest = `
settings: { max_call_s: 120 }
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  second: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: 300, output: 2500 }, routes: [{ provider: fake, model: a, cost: { input: 100, output: 1200 } }] }
  svc-2-flash: { endpoint: chat, price: { input: 100, output: 400 }, routes: [{ provider: second, model: b, cost: { input: 150, output: 600 } }] }
`;

const cacheDir = mkdtempSync(join(tmpdir(), "svc-weights-"));
// A file is where the folder of the locks should be: a fetch fails before it asks any registry.
writeFileSync(join(cacheDir, "locks"), "");
const home = useOperatorHome({
  manifest,
  environment: { SVC_SECRET: secret, SVC_ENGINE: "on", SVC_CACHE_DIR: cacheDir },
});
afterAll(() => rmSync(cacheDir, { recursive: true, force: true }));

describe("the margin", () => {
  const cells = (name: string | RegExp) =>
    home.window.page.getByRole("row", { name }).getByRole("cell").allInnerTexts();

  test("is what was charged less what vendors ask, as the operations have it", async () => {
    const { window, gateway } = home;
    gateway.upstream.replyWith(chatAnswers.plain());
    for (const model of ["svc-3-flash", "svc-3-flash", "svc-2-flash"])
      expect((await gateway.call("/chat/completions", { ...hello, model })).status).toBe(200);
    const { rows, total } = await gateway.server.operations.reports.margin({ by: "model" });
    expect(rows).toHaveLength(2);
    expect(Number(total.charged_usd)).toBeGreaterThan(0.01);

    const places = usdPlaces(rows.map(({ charged_usd: usd }) => usd));
    await window.goto("/operator/margin");
    for (const row of [...rows, { ...total, name: "Total" }])
      expect((await cells(new RegExp(`^${row.name}`))).slice(0, 5)).toEqual([
        row.name,
        String(row.receipts),
        ...[row.charged_usd, row.vendor_cost_usd, row.margin_usd].map((usd) =>
          formatUsdTo(usd ?? "", places),
        ),
      ]);
    // One of them is sold below its cost.
    expect(rows.map(({ margin_usd: usd }) => usd?.startsWith("-")).toSorted()).toEqual([
      false,
      true,
    ]);
    expect(await tile(window, "Charged").innerText()).toBe(formatUsd(total.charged_usd));
    expect(await tile(window, "Margin").innerText()).toBe(formatUsd(total.margin_usd ?? ""));
  });

  test("is told by provider, and goes into a file as it is on the page", async () => {
    const { page } = home.window;
    await page.getByRole("radiogroup", { name: "Group by" }).getByText("By provider").click();
    await page.getByRole("table", { name: "Margin by provider" }).waitFor();
    const { rows, total } = await home.gateway.server.operations.reports.margin({ by: "provider" });
    const charged = rows.map(({ charged_usd: usd }) => usd);
    expect((await cells(/^second/))[2]).toBe(
      formatUsdTo(
        rows.find(({ name }) => name === "second")?.charged_usd ?? "",
        usdPlaces(charged),
      ),
    );
    const { lines } = await exportCsv(page);
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toStartWith(
      `total,3,${total.charged_usd},${total.vendor_cost_usd},${total.margin_usd},`,
    );
  });

  test("of days without calls says so", async () => {
    const { page } = home.window;
    await page.getByLabel("Period").selectOption({ label: "Custom" });
    await fill(page, { "First day": "2020-01-01", "Last day": "2020-01-31" });
    await page.getByRole("heading", { name: "No calls in this period" }).waitFor();
  });
});

describe("the embedded engine", () => {
  test("that is switched off says how to switch it on", async () => {
    await using off = await briefGateway();
    const { cookie } = await joinOperator(off);
    const window = await windowOf(home.browser, off, { cookie });
    await window.goto("/operator/engine");
    const panel = window.page.getByRole("region", { name: "The engine is off" });
    await told(panel, "SVC_ENGINE=on svc serve");
    expect(await window.page.getByRole("button", { name: /Download/ }).count()).toBe(0);
    await window.close();
  });

  test("lists its weights, fetches what is asked for, and tells why that failed", async () => {
    const { window, gateway } = home;
    await window.goto("/operator/engine");
    await told(tile(window, "Weights on disk"), /^0 of \d/);
    const weights = await gateway.server.operations.engine.weights({});
    const table = window.page.getByRole("table", { name: "Weights on this machine" });
    expect(await table.getByRole("row").count()).toBe(1 + weights.length);
    const row = table.getByRole("row", { name: /^text/ });
    await told(row, "Not downloaded");
    await row.getByRole("button", { name: "Download: text" }).click();
    await row.getByRole("button", { name: "Try again: text" }).waitFor();
    const after = await gateway.server.operations.engine.weights({});
    const failed = after.find(({ set }) => set === "text");
    expect(failed?.phase).toBe("failed");
    await told(row, failed?.problem ?? "nothing");
    expect(after.filter(({ phase }) => phase === "absent")).toHaveLength(weights.length - 1);
  });
});

describe("the settings", () => {
  test("are the active ones, each with its source", async () => {
    const { window, operator } = home;
    await window.goto("/operator/settings");
    const { body } = await operator.ask("GET /api/settings");
    const rows = window.page.getByRole("table", { name: "Active settings" }).getByRole("row");
    const texts = (await rows.allInnerTexts()).slice(1);
    expect(texts).toHaveLength(body.settings.length);
    for (const [at, { name, value, source }] of body.settings.entries()) {
      expect(texts[at]).toStartWith(name);
      expect(texts[at]).toContain(value === null || value === "" ? "Not set" : value);
      expect(texts[at]?.toLowerCase()).toContain(source === "file" ? "svc.yaml" : source);
    }
    await window.page.getByLabel("Search settings").fill("max_call");
    expect(await rows.nth(1).getByRole("cell").nth(1).innerText()).toBe("120");
    await window.page.getByLabel("Search settings").fill("");
  });

  test("say of a secret that it is set, and nothing else", async () => {
    const { page } = home.window;
    const cell = page
      .getByRole("row", { name: /^SVC_SECRET/ })
      .getByRole("cell")
      .nth(1);
    expect(await cell.innerText()).toBe("(set)");
    const shown = await page.content();
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain("vendor-secret");
    expect(shown).not.toContain(home.gateway.key);
  });
});
