/** Keys are tried before they are saved, one provider can have several, and both can be paused. */

import { beforeEach, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { operatorErrors } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { hello } from "../../setup/money-home.ts";
import { dialogBy, expectRefusal, openedDialog, submit } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const goodKey = "sk-good-0123456789abcd";
const badKey = "sk-bad-0123456789-wxyz";

const home = useOperatorHome({ environment: { SVC_BREAKERS: "on" } });
beforeEach(() => {
  home.gateway.upstream.reset();
  home.gateway.upstream.replyWith((request) =>
    String(request.headers["authorization"]).includes("sk-bad")
      ? operatorErrors.badKey()
      : willingVendor(request),
  );
});

const card = (name: string) => home.window.page.getByRole("region", { name, exact: true });
const button = (name: string) => home.window.page.getByRole("button", { name, exact: true });
const keysSent = () =>
  home.gateway.upstream.requests.map(({ headers }) => String(headers["authorization"]));
const closed = async (dialog: Locator) => {
  await dialog.getByRole("button", { name: "Close", exact: true }).first().click();
  await dialog.waitFor({ state: "detached" });
};

test("a new provider with a bad key is an error at the key, and can be saved anyway", async () => {
  const { window, gateway } = home;
  await window.goto("/operator/providers");
  const form = await dialogBy(window, button("Add provider"), "Add provider");
  await form.getByLabel("Vendor").selectOption({ label: "Other OpenAI-compatible server" });
  await form.getByLabel("Name").fill("pool");
  await form.getByRole("textbox", { name: "Address" }).fill(gateway.upstream.baseUrl);
  await form.getByLabel("Allow a private address").check();
  await form.getByLabel("API key", { exact: true }).fill(badKey);
  await form.getByRole("button", { name: "Add provider" }).click();
  await form.getByText("pool rejected the key").waitFor();
  await expectRefusal(window, 400);
  expect(await window.barriers()).toEqual([]);
  expect(await card("pool").count()).toBe(0);
  await form.getByRole("button", { name: "Save anyway" }).click();
  await card("pool").waitFor();
  await card("pool").getByText("Failing", { exact: true }).waitFor();
  // The models cannot be listed with that key. The dialog says so.
  await closed(await openedDialog(window, /Add models from pool/));
});

test("a bad key does not replace the one in use; a good one does", async () => {
  const { window, operator } = home;
  await operator.ask("PATCH /api/providers/:name", {
    params: { name: "pool" },
    body: { api_key: goodKey },
  });
  await operator.ask("POST /api/providers/:name/models", {
    params: { name: "pool" },
    body: { ids: ["big-chat"] },
  });
  await window.goto("/operator/providers");
  const form = await dialogBy(window, button("Edit pool"), "Edit pool");
  await form.getByText("ends in abcd").waitFor();
  await form.getByLabel("API key", { exact: true }).fill(badKey);
  await form.getByRole("button", { name: "Save changes" }).click();
  await form.getByText("pool rejected the key").waitFor();
  await expectRefusal(window, 400);
  await form.getByLabel("API key", { exact: true }).fill(`${goodKey}-2`);
  await submit(form, "Save changes");
  expect(keysSent().at(-1)).toBe(`Bearer ${goodKey}-2`);
  await card("pool")
    .getByRole("row", { name: /big-chat/ })
    .getByText("Serving", { exact: true })
    .waitFor();
});

test("a second key is added, weighted, paused and removed", async () => {
  const { window, gateway } = home;
  const dialog = await dialogBy(window, button("Keys of pool"), "Keys of pool");
  await dialog.getByRole("button", { name: "Add key" }).click();
  let form = await openedDialog(window, "Add a key to pool");
  await form.getByLabel("Name").fill("spare");
  await form.locator("input[type=password]").fill(badKey);
  await form.getByRole("button", { name: "Add key" }).click();
  await form.getByText("pool rejected the key").waitFor();
  await expectRefusal(window, 400);
  await form.locator("input[type=password]").fill(`${goodKey}-3`);
  await submit(form, "Add key");
  const row = dialog.getByRole("row", { name: /spare/ });
  await row.getByText("Serving", { exact: true }).waitFor();

  await dialog.getByRole("button", { name: "Edit key spare" }).click();
  form = await openedDialog(window, "Edit key spare");
  await form.getByLabel("Weight").fill("4");
  await submit(form, "Save changes");
  await row.getByText("4", { exact: true }).waitFor();

  await dialog.getByRole("button", { name: "Pause key default" }).click();
  await dialog
    .getByRole("row", { name: /default/ })
    .getByText("Paused", { exact: true })
    .waitFor();
  expect(await window.barriers()).toEqual([]);
  await closed(dialog);
  await gateway.server.operations.prices.set({
    model: "big-chat",
    price: { input: "1", output: "1" },
  });
  gateway.upstream.reset();
  gateway.upstream.replyWith(willingVendor);
  for (let count = 0; count < 4; count++)
    await gateway.call("/chat/completions", { ...hello, model: "big-chat" });
  expect(new Set(keysSent())).toEqual(new Set([`Bearer ${goodKey}-3`]));

  const again = await dialogBy(window, button("Keys of pool"), "Keys of pool");
  await again.getByRole("button", { name: "Remove key default" }).click();
  const question = await openedDialog(window, "Remove the key “default”?");
  await question.getByRole("button", { name: "Remove", exact: true }).click();
  await again.getByRole("row", { name: /default/ }).waitFor({ state: "detached" });
  await closed(again);
});

test("a provider is paused and resumed, and its routes stay", async () => {
  const { window, gateway } = home;
  await window.goto("/operator/providers");
  await button("Pause pool").click();
  await button("Resume pool").waitFor();
  const row = card("pool").getByRole("row", { name: /big-chat/ });
  await row.getByText("Paused", { exact: true }).waitFor();
  await card("pool").getByText("Calls, 24 h").waitFor();
  expect(await card("pool").getByText("Error rate").count()).toBe(1);
  expect((await gateway.call("/chat/completions", { ...hello, model: "big-chat" })).status).toBe(
    502,
  );
  await button("Resume pool").click();
  await button("Pause pool").waitFor();
  expect((await gateway.call("/chat/completions", { ...hello, model: "big-chat" })).status).toBe(
    200,
  );
});

test("a model is one row with its keys inside, and a working key is not failing for one model", async () => {
  const { window, gateway, operator } = home;
  const base_url = gateway.upstream.baseUrl;
  const added = await operator.ask("POST /api/providers", {
    body: { name: "duo", base_url, api_key: goodKey, allow_private: true },
  });
  expect(added.status).toBe(200);
  const params = { name: "duo" };
  const ids = ["big-chat", "loud-tts"].map((id) => ({ upstream: id, id: `duo-${id}`, free: true }));
  await operator.ask("POST /api/providers/:name/models", { params, body: { models: ids } });
  const second = { name: "second", api_key: badKey, skip_test: true };
  await operator.ask("POST /api/providers/:name/keys", { params, body: second });
  // One model fails with a key that works.
  gateway.upstream.replyWith((request) =>
    request.path.endsWith("/speech") || String(request.headers["authorization"]).includes("sk-bad")
      ? operatorErrors.badKey()
      : willingVendor(request),
  );
  await window.goto("/operator/providers");
  await button("Test duo").click();
  await card("duo").getByText("calls failed.").waitFor();
  const table = card("duo").getByRole("table", { name: "Models of duo" });
  // A heading, and one row for each model.
  expect(await table.getByRole("row").count()).toBe(3);
  await table
    .getByRole("row", { name: /big-chat.*Serving.*Failing\s*second.*Serving\s*default/ })
    .waitFor();
  await table.getByRole("row", { name: /loud-tts.*Failing.*default, second/ }).waitFor();
  await card("duo").getByText("1 of 2 models failing", { exact: true }).waitFor();
  expect(await window.barriers()).toEqual([]);
  const dialog = await dialogBy(window, button("Keys of duo"), "Keys of duo");
  const row = (name: string) => dialog.getByRole("row", { name: new RegExp(`^${name}`) });
  await row("default").getByText("Serving", { exact: true }).waitFor();
  await row("default").getByText("1 of 2 models failing").waitFor();
  await row("second").getByText("Failing", { exact: true }).waitFor();
  await window.page.setViewportSize({ width: 390, height: 844 });
  expect(await window.overflowPx()).toBe(0);
  await closed(dialog);
});
