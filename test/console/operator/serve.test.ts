/** From a vendor with a hundred models to some of them served. */

import { beforeAll, expect, test } from "bun:test";
import { jsonReply } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { dialogBy, openedDialog, submit } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const offered = [
  ...Array.from({ length: 80 }, (_, at) => `acme-other-${at}`),
  ...Array.from({ length: 20 }, (_, at) => `acme-wanted-${at}`),
];

const home = useOperatorHome();
beforeAll(() => {
  home.gateway.upstream.replyWith((request) =>
    request.path.endsWith("/models")
      ? jsonReply({ body: { data: offered.map((id) => ({ id })) } })
      : willingVendor(request),
  );
});

const button = (name: string | RegExp) => home.window.page.getByRole("button", { name });

test("a newcomer serves and prices 20 of 100 models without list prices in fewer than 15 clicks", async () => {
  const { window, gateway, operator } = home;
  const { page } = window;
  await window.goto("/operator/providers");
  let clicks = 0;
  const click = async (place: ReturnType<typeof button>) => {
    clicks++;
    await place.click();
  };
  /** A field is clicked before it is typed in. */
  const type = async (place: ReturnType<typeof button>, text: string) => {
    await click(place);
    await place.fill(text);
  };
  await click(button("Add provider").first());
  const form = await openedDialog(window, "Add provider");
  const vendor = form.getByRole("combobox", { name: "Vendor" });
  await click(vendor);
  await vendor.selectOption({ label: "Other OpenAI-compatible server" });
  clicks++;
  await type(form.getByRole("textbox", { name: "Name" }), "acme");
  await type(form.getByRole("textbox", { name: "Address" }), gateway.upstream.baseUrl);
  await type(form.getByLabel("API key", { exact: true }), "sk-acme-0123456789");
  await click(form.getByLabel("Allow a private address"));
  await click(form.getByRole("button", { name: "Add provider" }));

  const offer = await openedDialog(window, "Add models from acme");
  expect(await offer.getByRole("listitem").count()).toBe(100);
  const price = offer.getByRole("combobox", { name: "Price for all" });
  expect(await price.inputValue()).toBe("one");
  await type(offer.getByLabel(/^Input, USD/), "0.40");
  await type(offer.getByLabel(/^Output, USD/), "1.60");
  await type(offer.getByRole("searchbox", { name: "Search models" }), "wanted");
  await click(offer.getByLabel("Select all 20 shown"));
  await offer.getByText("20 of 100 selected").waitFor();
  await click(offer.getByRole("button", { name: "Save 20 models" }));
  await offer.waitFor({ state: "detached" });
  expect(clicks).toBeLessThan(15);
  const { body } = await operator.ask("GET /api/catalog");
  const served = body.filter(({ id }: { id: string }) => id.startsWith("acme-wanted"));
  expect(served).toHaveLength(20);
  for (const { state, price: given } of served)
    expect([state, given]).toEqual(["untested", { input: "0.40", output: "1.60" }]);
  expect(await page.getByRole("dialog").count()).toBe(0);
});

test("one model gets another id, endpoint and its own price; one without a price is a to-do", async () => {
  const { window, operator } = home;
  const offer = await dialogBy(window, button("Add models from acme"), "Add models from acme");
  await offer.getByRole("combobox", { name: "Price for all" }).selectOption("list");
  await offer.getByRole("searchbox", { name: "Search models" }).fill("other-7");
  await button("Edit acme-other-7").first().click();
  await offer.getByRole("textbox", { name: "ID for callers" }).fill("house-model");
  await offer.getByRole("combobox", { name: "Price", exact: true }).selectOption("own");
  await offer.getByLabel(/^Input, USD/).fill("$1");
  await offer.getByLabel(/^Output, USD/).fill("2,50");
  expect(await offer.getByText("Enter an amount in USD such as 2.50").count()).toBe(2);
  await offer.getByLabel(/^Input, USD/).fill("1");
  await offer.getByLabel(/^Output, USD/).fill("2.50");
  await offer.getByLabel(/^acme-other-70/).check();
  await offer.getByText("2 of 80 selected, 1 needs a price").waitFor();
  await submit(offer, "Save 2 models");
  const params = { model: "house-model" };
  const { body } = await operator.ask("GET /api/catalog/:model", { params });
  expect(body.price).toEqual({ input: "1.00", output: "2.50" });

  // Also where its targets work: what cannot be called is never green.
  const acme = { params: { name: "acme" }, body: { kind: "chat" } };
  await operator.ask("POST /api/providers/:name/test", acme);
  await window.goto("/operator/providers");
  await window.page.getByRole("link", { name: "Needs price (1)" }).first().click();
  const table = window.page.getByRole("table", { name: "Models in the catalog" });
  await table.getByText("acme-other-70").first().waitFor();
  expect(await table.getByText("house-model").count()).toBe(0);
  expect(await window.barriers()).toEqual([]);
  await window.goto("/operator/catalog");
  const states = window.page.getByRole("combobox", { name: "State" });
  expect(await states.getByRole("option", { name: /^Needs price \(\d+\)$/ }).count()).toBe(1);
  await window.page.getByRole("link", { name: /^Set prices \(\d+\)/ }).click();
  await table.getByText("acme-other-70").first().waitFor();
  expect(await table.getByText("house-model").count()).toBe(0);
});

test("a model that was never called is renamed with its old id as an alias, and deleted", async () => {
  const { window, operator } = home;
  await window.goto("/operator/catalog/acme-wanted-2");
  const form = await dialogBy(window, button("Rename"), "Rename acme-wanted-2");
  await form.getByRole("textbox", { name: "New ID" }).fill("renamed");
  await form.getByRole("button", { name: "Rename" }).click();
  await window.page.getByRole("heading", { name: "renamed", level: 1 }).waitFor();
  const { body } = await operator.ask("GET /api/catalog/:model", { params: { model: "renamed" } });
  expect(body.aliases).toEqual(["acme-wanted-2"]);
  const question = await dialogBy(window, button("Delete"), "Delete renamed?");
  await question.getByRole("button", { name: "Delete" }).click();
  await window.page.getByRole("heading", { name: "Catalog", level: 1 }).waitFor();
  const gone = await operator.ask("GET /api/catalog/:model", { params: { model: "renamed" } });
  expect(gone.status).toBe(404);
});
