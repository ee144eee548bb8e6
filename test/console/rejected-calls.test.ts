/** A rejected call: who made it, why, and where to go from there. */

import { beforeAll, expect, test } from "bun:test";
import { willingVendor } from "../fake/willing-vendor.ts";
import { hello, openPayer, type Payer } from "../setup/money-home.ts";
import { joinMember } from "../setup/platform-home.ts";
import { type Window, windowOf } from "./setup/console-home.ts";
import { openedDialog, submit, told } from "./setup/operator-home.ts";
import { chooseItem } from "./setup/tab.ts";
import { useOperatorHome } from "./setup/use-console.ts";

const home = useOperatorHome();
const { window } = home;
let poor: Payer;
let limited: Payer;
let unpricedId: string;
let refusedId: string;

beforeAll(async () => {
  const { gateway } = home;
  gateway.upstream.replyWith(willingVendor);
  poor = await openPayer(gateway, { credit: 0n });
  limited = await openPayer(gateway);
  const { operations } = gateway.server;
  await operations.keys.update({ id: limited.keyId, name: "mobile app", models: [hello.model] });
  for (let at = 0; at < 12; at++) await poor.chat();
  expect((await limited.chat()).status).toBe(200);
  refusedId = idOf(await limited.chat({ model: "vendor/with-slash" }));
  unpricedId = idOf(await limited.chat({ model: "unpriced" }));
});

const idOf = (reply: Response) => reply.headers.get("x-request-id") ?? "";
const list = ({ page }: Window) =>
  page.getByRole("table", { name: "Rejected calls, newest first" });
const rowWith = (words: string, of = window) =>
  list(of).getByRole("row").filter({ hasText: words });

test("the operator sees the key and the real reason, and how many there are", async () => {
  const { page } = window;
  await window.goto("/operator/requests?outcome=rejected");
  await told(rowWith("Needs price"), "mobile app");
  await told(rowWith("Not on the key's list"), "vendor/with-slash");
  await page.getByText("14 rejected calls").waitFor();
  await page.getByText("Calls rejected before admission. They cost nothing.").waitFor();
  expect(await window.barriers()).toEqual([]);
});

test("a row opens its details, which lead to the model, the key and the account", async () => {
  const { page } = window;
  await rowWith("Needs price").getByRole("link").click();
  const dialog = await openedDialog(window, "Rejected call, 403");
  const text = await dialog.innerText();
  for (const words of [unpricedId, limited.keyId, limited.id, "model_not_allowed", "chat"])
    expect(text).toContain(words);
  await window.show({ scheme: "dark", width: 390 });
  expect(await window.overflowPx()).toBe(0);
  expect(await window.barriers()).toEqual([]);
  await window.show({ scheme: "light", width: 1280 });
  await dialog.getByRole("link", { name: "unpriced" }).click();
  await page.getByRole("heading", { level: 1, name: "unpriced" }).waitFor();
  await page.goBack();
  await (await openedDialog(window, "Rejected call, 403"))
    .getByRole("link", { name: /^mobile app/ })
    .click();
  await page.getByRole("table", { name: "Keys of all accounts" }).waitFor();
  expect(await page.locator("tbody tr").count()).toBe(1);
});

test("it is found by its id, in the list and by Ctrl K", async () => {
  const { page } = window;
  await window.goto("/operator/requests?outcome=rejected");
  await page.getByLabel("Request ID").fill(refusedId);
  await page.getByText("1 rejected call", { exact: true }).waitFor();
  expect(await list(window).locator("tbody tr").count()).toBe(1);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Search/ }).fill(unpricedId);
  await page.getByRole("option", { name: "Rejected, 403 model_not_allowed" }).click();
  const dialog = await openedDialog(window, "Rejected call, 403");
  await told(dialog, unpricedId);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByLabel("Request ID").inputValue()).toBe(unpricedId);
  await page.getByLabel("Outcome").selectOption("");
  await page.getByText("1 rejected ·").waitFor();
});

test("a member sees the key and no more of the reason than the caller did", async () => {
  const { gateway, operator, browser } = home;
  const viewer = await joinMember(gateway, operator, { account: limited.id, role: "viewer" });
  const own = await windowOf(browser, gateway, { cookie: viewer.cookie });
  await own.goto(`/a/${limited.id}/requests?outcome=rejected`);
  await rowWith("unpriced", own).getByRole("link").click();
  const dialog = await openedDialog(own, "Rejected call, 403");
  const text = await dialog.innerText();
  expect(text).toContain("mobile app");
  expect(text).toContain("does not exist, or this key cannot use it");
  expect(text).not.toMatch(/Needs price|Reason/);
  expect(await dialog.getByRole("link").count()).toBe(1);
  expect(await list(own).innerText()).not.toMatch(/Needs price|Not on the key/);
});

test("the operator's keys have rejections, spend and actions, as an account's have", async () => {
  const { page } = window;
  await window.goto("/operator/keys?find=mobile");
  const row = page.getByRole("row").filter({ hasText: "mobile app" });
  await row.getByRole("link", { name: "2 × 403 in the last hour" }).waitFor();
  await told(row, /\$0\.\d*[1-9]/);
  const act = async (name: string) => {
    await row.getByRole("button", { name: "Actions for mobile app" }).click();
    await chooseItem(page, new RegExp(`^${name}$`));
  };
  await act("Pause");
  await (await openedDialog(window, /Pause/)).getByRole("button", { name: /^Pause/ }).click();
  await told(row, "Paused");
  await act("Resume");
  await told(row, "Active");
  await act("Edit");
  const dialog = await openedDialog(window, /Edit|Change/);
  await dialog.getByLabel("Expires").selectOption("30");
  await submit(dialog, "Save");
  const key = (await home.gateway.server.operations.keys.list({ account: limited.id }))[0];
  expect(key?.expires_at).not.toBeNull();
  await act("Revoke");
  await (await openedDialog(window, /Revoke/)).getByRole("button", { name: /^Revoke/ }).click();
  await told(row, "Revoked");
  expect(await window.barriers()).toEqual([]);
});

test("the tile of errors leads to them, and to what was rejected", async () => {
  const { page } = window;
  await window.goto("/operator/overview");
  const tile = page.getByRole("term").filter({ hasText: "Error rate" }).locator("..");
  await tile.getByRole("link", { name: "14 rejected" }).click();
  await page.getByText("14 rejected calls").waitFor();
  await page.goBack();
  await tile.getByRole("link", { name: /errors?$/ }).click();
  expect(new URL(page.url()).searchParams.get("outcome")).toBe("failed");
});

test("the page says how it is sorted, and its columns keep amounts and names whole", async () => {
  const { page } = window;
  await window.goto("/operator/requests");
  await page.getByText("newest first.").waitFor();
  await page.getByRole("button", { name: "Duration" }).click();
  await page.getByText("Every accepted call from all accounts, slowest first.").waitFor();
  await page.getByRole("table", { name: "Requests, slowest first" }).waitFor();
  const styleOf = (label: string, name: "whiteSpace" | "webkitLineClamp") =>
    page
      .locator(`td[data-label="${label}"]`)
      .first()
      .evaluate(
        (cell, wanted) =>
          getComputedStyle(wanted === "whiteSpace" ? cell : (cell.firstElementChild ?? cell))[
            wanted
          ],
        name,
      );
  // An amount never breaks, and a model takes two lines at most.
  expect(await styleOf("Cost", "whiteSpace")).toBe("nowrap");
  expect(await styleOf("Model", "webkitLineClamp")).toBe("2");
});
