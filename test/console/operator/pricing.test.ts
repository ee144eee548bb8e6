/** Prices of many models at once: where they are added, and where they are changed. */

import { beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { jsonReply } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { dialogBy, expectRefusal, openedDialog, submit } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const offered = [
  ...Array.from({ length: 40 }, (_, at) => `acme-chat-${at}`),
  "acme/llama-3.3-70b",
  "acme-embed-1",
  "acme-tts-1",
  "dall-e-3",
  "acme-image-1",
];

const home = useOperatorHome({ isInStore: true });
beforeAll(async () => {
  home.gateway.upstream.replyWith((request) =>
    request.path.endsWith("/models")
      ? jsonReply({ body: { data: offered.map((id) => ({ id })) } })
      : willingVendor(request),
  );
  const { baseUrl } = home.gateway.upstream;
  const body = { name: "acme", base_url: baseUrl, api_key: "sk-x", allow_private: true };
  expect((await home.operator.ask("POST /api/providers", { body })).status).toBe(200);
});

const button = (name: string | RegExp) => home.window.page.getByRole("button", { name });
const priceOf = async (model: string) =>
  (await home.operator.ask("GET /api/catalog/:model", { params: { model } })).body.price;

async function openOffer(): Promise<Locator> {
  await home.window.goto("/operator/providers");
  await button("Add models from acme").click();
  return openedDialog(home.window, "Add models from acme");
}
const search = (offer: Locator) => offer.getByRole("searchbox", { name: "Search models" });

/** Whether inputs stand in one line, and what the dialog offers is in view. */
const tops = (places: readonly Locator[]) =>
  Promise.all(places.map(async (place) => Math.round((await place.boundingBox())?.y ?? -1)));

test("models are found by words and chosen by range; those that are not supported are named", async () => {
  const { page } = home.window;
  const offer = await openOffer();
  await offer.getByText("0 of 43 selected").waitFor();
  await search(offer).fill("llama 3.3");
  await offer.getByLabel("Select all 1 shown").waitFor();
  await offer.getByLabel(/^acme\/llama-3\.3-70b/).waitFor();
  await search(offer).fill("dall-e");
  await offer.getByText("No models match. Not supported: dall-e-3.").waitFor();
  expect(await home.window.barriers()).toEqual([]);
  await offer.getByText("2 not supported").click();
  const names = offer.getByRole("list", { name: "Models that are not supported" });
  expect(await names.getByRole("listitem").allInnerTexts()).toEqual(["dall-e-3", "acme-image-1"]);
  await search(offer).fill("chat");
  await offer.getByText("acme-chat-2", { exact: true }).click();
  await offer.getByText("acme-chat-11", { exact: true }).click({ modifiers: ["Shift"] });
  await offer.getByText("10 of 43 selected, 10 need a price").waitFor();
  await offer.getByText("acme-chat-4", { exact: true }).click();
  await offer.getByText("acme-chat-6", { exact: true }).click({ modifiers: ["Shift"] });
  await offer.getByText("7 of 43 selected, 7 need a price").waitFor();
  await page.keyboard.press("Escape");
  await button("Discard").click();
  await offer.waitFor({ state: "detached" });
});

test("one price has fields for each endpoint, and says which of them are empty or wrong", async () => {
  const { window } = home;
  const offer = await openOffer();
  expect(await offer.getByRole("group", { name: /^Chat/ }).count()).toBe(0);
  await offer.getByLabel("Select all 43 shown").check();
  const chat = offer.getByRole("group", { name: "Chat (41 models)" });
  const speech = offer.getByRole("group", { name: "Speech (1 model)" });
  await chat.getByLabel(/^Input, USD/).fill("1000001");
  await offer.getByRole("button", { name: "Save 43 models" }).click();
  // Chat lacks its output, embeddings their input, and speech both.
  expect(await offer.getByText("Enter an amount, or 0 for free.").count()).toBe(4);
  const output = chat.getByLabel(/^Output, USD/);
  expect(await output.evaluate((field) => field === document.activeElement)).toBe(true);
  const [input = 0, ...others] = await tops([chat.getByLabel(/^Input, USD/), output]);
  expect(others).toEqual([input]);
  await output.fill("2");
  await offer
    .getByRole("group", { name: "Text embeddings (1 model)" })
    .getByLabel(/^Input, USD/)
    .fill("3");
  await speech.getByLabel(/^Input, USD/).fill("4");
  await speech.getByLabel(/^Audio, USD/).fill("5");
  await offer.getByRole("button", { name: "Save 43 models" }).click();
  await chat.getByText("must be at most").waitFor();
  await expectRefusal(window, 400);
  expect(await window.barriers()).toEqual([]);
  await chat.getByLabel(/^Input, USD/).fill("1");
  await search(offer).fill("70b");
  await offer.getByLabel("Select all 1 shown").uncheck();
  await submit(offer, "Save 42 models");
  expect(await priceOf("acme-chat-39")).toEqual({ input: "1.00", output: "2.00" });
  expect(await priceOf("acme-embed-1")).toEqual({ input: "3.00" });
  expect(await priceOf("acme-tts-1")).toEqual({ input: "4.00", audio_output: "5.00" });
});

test("an own price that is empty is an error at its fields, and nothing is saved", async () => {
  const { operator } = home;
  const offer = await openOffer();
  await button("Edit acme/llama-3.3-70b").click();
  await offer.getByRole("combobox", { name: "Price", exact: true }).selectOption("own");
  await search(offer).fill("dall-e");
  await offer.getByRole("button", { name: "Save 1 model" }).click();
  // Also where the search hides the model.
  const row = offer.getByRole("listitem").filter({ hasText: "acme/llama-3.3-70b" });
  await row.getByText("Enter an amount, or 0 for free.").first().waitFor();
  expect(await row.getByText("Enter an amount, or 0 for free.").count()).toBe(2);
  const input = row.getByLabel(/^Input, USD/);
  await home.window.page.waitForFunction(
    (field) => field === document.activeElement,
    await input.elementHandle(),
  );
  const { body } = await operator.ask("GET /api/catalog");
  expect(body.some(({ id }: { id: string }) => id.includes("llama"))).toBe(false);
  await input.fill("0");
  await row.getByLabel(/^Output, USD/).fill("7");
  await submit(offer, "Save 1 model");
  expect(await priceOf("acme/llama-3.3-70b")).toEqual({ input: "0.00", output: "7.00" });
});

test("models of several endpoints are priced together, with the buttons in view", async () => {
  const { window } = home;
  const { page } = window;
  await page.setViewportSize({ width: 1280, height: 900 });
  await window.goto("/operator/prices?find=acme");
  await button("Select all shown").click();
  const dialog = await dialogBy(window, button("Set prices"), "Set prices for 43 models");
  await dialog.getByRole("combobox", { name: "Price" }).selectOption("price");
  await dialog.getByRole("button", { name: "Preview" }).click();
  expect(await dialog.getByText("Enter an amount, or 0 for free.").count()).toBe(5);
  const fill = async (group: string, prices: Readonly<Record<string, string>>) => {
    for (const [label, text] of Object.entries(prices))
      await dialog
        .getByRole("group", { name: group })
        .getByLabel(new RegExp(`^${label}, USD`))
        .fill(text);
  };
  await fill("Chat (41 models)", { Input: "11", Output: "12" });
  await fill("Text embeddings (1 model)", { Input: "13" });
  await fill("Speech (1 model)", { Input: "14", Audio: "1000001" });
  await dialog.getByRole("button", { name: "Preview" }).click();
  const wrong = dialog.getByRole("group", { name: "Speech (1 model)" });
  await wrong.getByText("must be at most").waitFor();
  await expectRefusal(window, 400);
  const [line, ...others] = await tops([
    wrong.getByLabel(/^Input, USD/),
    wrong.getByLabel(/^Audio, USD/),
  ]);
  expect(others).toEqual([line ?? 0]);
  await fill("Speech (1 model)", { Audio: "15" });
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("Preview. Nothing has changed yet.").waitFor();
  const save = dialog.getByRole("button", { name: "Save 43 models" });
  const plan = dialog.getByRole("region", { name: "New prices" });
  const [edge, place, table] = await Promise.all(
    [dialog, save, plan].map((one) => one.boundingBox()),
  );
  const bottom = (box: typeof edge) =>
    box === null || box === undefined ? Number.NaN : box.y + box.height;
  expect(bottom(place)).toBeLessThan(bottom(edge) - 8);
  // What is about to be saved is in view, too.
  expect(bottom(table)).toBeLessThan(place?.y ?? 0);
  expect(await window.barriers()).toEqual([]);
  await save.click();
  await dialog.waitFor({ state: "detached" });
  expect(await priceOf("acme-chat-0")).toEqual({ input: "11.00", output: "12.00" });
  expect(await priceOf("acme-tts-1")).toEqual({ input: "14.00", audio_output: "15.00" });
});

test("half-filled prices are not lost by Escape, opened from the catalog", async () => {
  const { window } = home;
  await window.goto("/operator/catalog?find=acme-chat-1");
  await window.page.getByLabel("Select acme-chat-1", { exact: true }).check();
  await window.page.getByLabel("Select acme-chat-12").click({ modifiers: ["Shift"] });
  const dialog = await dialogBy(window, button("Set prices"), "Set prices for 4 models");
  await dialog.getByLabel("Markup in percent").fill("30");
  await window.page.keyboard.press("Escape");
  await button("Keep editing").click();
  expect(await dialog.getByLabel("Markup in percent").inputValue()).toBe("30");
  await window.page.keyboard.press("Escape");
  await button("Discard").click();
  await dialog.waitFor({ state: "detached" });
});

test("the lack of a price is said once, and models that lack one can be filtered", async () => {
  const { window, operator } = home;
  const { page } = window;
  const routes = [{ provider: "acme", model: "m" }];
  await operator.ask("POST /api/catalog", { body: { id: "acme-bare", routes } });
  await window.goto("/operator/prices");
  const filter = page.getByRole("combobox", { name: "Price" });
  const { body } = await operator.ask("GET /api/catalog");
  const lacking = body.filter(({ price }: { price: unknown }) => price === null).length;
  const choice = filter.getByRole("option", { name: `Needs price (${lacking})` });
  await choice.waitFor({ state: "attached" });
  await filter.selectOption("needs_price");
  const table = page.getByRole("table", { name: "Prices by model" });
  await table.getByRole("row", { name: /acme-chat-0/ }).waitFor({ state: "detached" });
  await table.getByRole("row", { name: /acme-bare/ }).waitFor();
  expect(await table.getByRole("row").count()).toBe(lacking + 1);
  expect(page.url()).toContain("state=needs_price");
  await window.goto("/operator/catalog?find=acme-bare");
  const row = page.getByRole("row", { name: /acme-bare/ });
  await row.waitFor();
  expect((await row.innerText()).match(/price/gi)).toEqual(["price"]);
});

test("the dialogs fit a phone", async () => {
  const { window } = home;
  await window.page.setViewportSize({ width: 390, height: 844 });
  await openOffer();
  expect(await window.overflowPx()).toBe(0);
  await window.goto("/operator/prices?find=acme");
  await button("Select all shown").click();
  const dialog = await dialogBy(window, button("Set prices"), "Set prices for 44 models");
  await dialog.getByRole("combobox", { name: "Price" }).selectOption("price");
  await dialog.getByRole("group", { name: "Speech (1 model)" }).waitFor();
  expect(await window.overflowPx()).toBe(0);
});
