import { beforeAll, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { hello } from "../../setup/money-home.ts";
import { dialogBy, submit, told } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const manifest = `
providers:
  openai: { vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [{ provider: openai, model: nobody-knows-it }] }
  mini: { endpoint: chat, routes: [{ provider: openai, model: gpt-4o-mini }] }
`;

const home = useOperatorHome({ manifest, isInStore: true });
beforeAll(async () => {
  home.gateway.upstream.replyWith(chatAnswers.plain());
  await home.window.goto("/operator/prices");
});

const button = (name: string | RegExp) => home.window.page.getByRole("button", { name });
const row = (model: string) =>
  home.window.page.getByRole("row", { name: new RegExp(`^(Select )?${model} `) });
const prices = (model: string) =>
  home.gateway.server.operations.prices.list({ model, history: true });

/** The arithmetic of the receipt of a call that is made now. */
async function receiptOfCall() {
  const reply = await home.gateway.call("/chat/completions", hello);
  expect(reply.status).toBe(200);
  const id = reply.headers.get("x-request-id") ?? "";
  return (await home.operator.ask("GET /api/requests/:id", { params: { id } })).body;
}

interface Receipt {
  readonly arithmetic: {
    readonly rows: readonly { readonly class: string; readonly price_usd: string }[];
  };
}
const priceOf = ({ arithmetic }: Receipt, name: string) =>
  arithmetic.rows.find((row) => row.class === name)?.price_usd;

test("a price that is set from now on is in force with the next call, and the old one stays in the history", async () => {
  const { window } = home;
  const before = await receiptOfCall();
  expect([priceOf(before, "input"), priceOf(before, "output")]).toEqual(["0.30", "2.50"]);
  const dialog = await dialogBy(window, button("Set price of svc-3-flash"), "Price of svc-3-flash");
  // It begins with the price in force.
  expect(await dialog.getByLabel(/^Output, USD/).inputValue()).toBe("2.50");
  await dialog.getByLabel(/^Input, USD/).fill("7");
  await dialog.getByLabel(/^Output, USD/).fill("70");
  await submit(dialog, "Set price");
  await told(row("svc-3-flash"), "$70.00");

  const after = await receiptOfCall();
  expect(after.price_version).toBe(before.price_version + 1);
  expect(after.arithmetic).toMatchObject({ adds_up: true, cost_usd: after.charged_usd });
  expect([priceOf(after, "input"), priceOf(after, "output")]).toEqual(["7.00", "70.00"]);
  const { input = 0, cached_input: cached = 0, output = 0 } = after.units;
  expect(Number(after.charged_usd)).toBeCloseTo((7 * (input + cached) + 70 * output) / 1e6, 8);

  const history = await dialogBy(window, button("History of svc-3-flash"), "Prices of svc-3-flash");
  const versions = history.getByRole("list", { name: "Prices, newest first" });
  const texts = await versions.getByRole("listitem").allInnerTexts();
  expect(texts).toHaveLength(2);
  expect(texts[0]).toMatch(/Current[\s\S]*\$7\.00[\s\S]*\$70\.00/);
  expect(texts[1]).toMatch(/From the beginning[\s\S]*\$0\.30[\s\S]*\$2\.50/);
  await window.page.keyboard.press("Escape");
  await history.waitFor({ state: "detached" });
});

test("an import shows what it would set before anything is set", async () => {
  const { window } = home;
  await row("mini").getByText("Needs price").waitFor();
  const dialog = await dialogBy(window, button("Import list prices"), "Import list prices");
  await dialog.getByLabel("Markup in percent").fill("100");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("Preview. Nothing has changed yet.").waitFor();
  expect(await window.barriers()).toEqual([]);
  const plan = dialog.getByRole("table", { name: "Prices to import" });
  const shown = await plan.getByRole("row", { name: /Price for callers/ }).innerText();
  expect((await prices("mini")).map(({ price }) => price)).toEqual([null]);

  // Another markup is another plan: it is shown first, too.
  await dialog.getByLabel("Markup in percent").fill("50");
  await dialog.getByRole("button", { name: /^Import \d/ }).waitFor({ state: "detached" });
  await dialog.getByLabel("Markup in percent").fill("100");
  await submit(dialog, "Import 2 prices");
  await row("mini").getByText("Needs price").waitFor({ state: "detached" });
  const [made] = await prices("mini");
  const usd = Number(made?.price?.["input"]);
  expect(usd).toBeGreaterThan(0);
  expect(shown).toContain(`$${made?.price?.["input"]}`);
  expect(await row("mini").innerText()).toContain(`$${made?.price?.["input"]}`);
  const { routes } = await home.gateway.server.operations.catalog.show({ id: "mini" });
  expect(2 * Number(routes[0]?.cost?.["input"])).toBeCloseTo(usd, 9);
});
