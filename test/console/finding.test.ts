/** How people find their way: the navigation of each role, the command palette, the checklist. */

import { beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { willingVendor } from "../fake/willing-vendor.ts";
import { hello } from "../setup/money-home.ts";
import { joinMember } from "../setup/platform-home.ts";
import type { Window } from "./setup/console-home.ts";
import { dialogBy, submit } from "./setup/operator-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

const home = useMemberHome({ isInStore: true });
let operator: Window;
let acme: string;
let requestId: string;

beforeAll(async () => {
  const { operations } = home.gateway.server;
  acme = (await operations.accounts.create({ name: "Acme Corp" })).id;
  await operations.entries.add({ account: acme, kind: "credit", usd: "5", reference: "x" });
  await operations.keys.create({ account: acme, name: "acme production" });
  const reply = await home.gateway.call("/chat/completions", hello);
  await reply.text();
  requestId = reply.headers.get("x-request-id") ?? "";
  operator = await home.openOther(home.operator);
});

const pagesOf = ({ page }: Window) =>
  page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts();
const title = ({ page }: Window, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();

describe("the navigation", () => {
  const seenBy = async (role: string) => {
    const window = await home.openOther(await home.joined(role));
    await window.goto(home.path("overview"));
    return { window, pages: await pagesOf(window) };
  };

  test("has what a role may open, and a link to the rest leads to a page that says why", async () => {
    const developer = await seenBy("developer");
    expect(developer.pages).toContain("Playground");
    expect(developer.pages).not.toContain("Tokens");
    expect(developer.pages).not.toContain("Audit log");
    await developer.window.goto(home.path("tokens"));
    await developer.window.page.getByText("Only owners can manage tokens").waitFor();
    await developer.window.goto(home.path("audit"));
    await developer.window.page.getByText("Only owners can view the audit log").waitFor();
    const viewer = await seenBy("viewer");
    expect(viewer.pages).not.toContain("Playground");
    expect(viewer.pages).toContain("Keys");
    await viewer.window.goto(home.path("playground"));
    await viewer.window.page
      .getByText("Only developers and owners can use the playground")
      .waitFor();
    const owner = await seenBy("owner");
    expect(owner.pages).toContain("Tokens");
    expect(owner.pages).toContain("Audit log");
  });

  test("of an operator has the keys of all accounts", async () => {
    const { page } = operator;
    await operator.goto("/operator/overview");
    expect(await pagesOf(operator)).toEqual(expect.arrayContaining(["Keys", "Playground"]));
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await title(operator, "Keys");
    const row = page.getByRole("row", { name: /acme production/ });
    expect(await row.innerText()).toContain("Acme Corp");
    await page.getByRole("searchbox", { name: "Search keys" }).fill("acme");
    await page.getByRole("heading", { name: "1 key", exact: true }).waitFor();
    const dialog = await dialogBy(operator, "Create key", "Create key");
    await dialog.getByRole("combobox", { name: "Account" }).click();
    await page.getByRole("option", { name: "Acme Corp" }).click();
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`**/a/${acme}/keys?new=1`);
    await page.getByRole("dialog", { name: "Create key" }).getByLabel("Name").waitFor();
  });

  test("of an operator has a playground that charges the account they choose", async () => {
    const { page } = operator;
    await operator.goto("/operator/playground");
    // It takes the focus when it appears, which closes a list that is open.
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await page.getByRole("combobox", { name: "Account to charge" }).click();
    await page.getByRole("option", { name: "Acme Corp" }).click();
    home.gateway.upstream.replyOnce(willingVendor);
    await page.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "Receipt" }).getByText("Charged").waitFor();
    const { body } = await home.operator.ask("GET /api/accounts/:account/requests", {
      params: { account: acme },
    });
    expect(body.requests).toHaveLength(1);
    await page.reload();
    expect(await page.getByRole("combobox", { name: "Account to charge" }).inputValue()).toBe(
      "Acme Corp",
    );
  });
});

describe("the command palette", () => {
  async function search({ page }: Window, text: string): Promise<Locator> {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search pages, models, keys, requests" }).fill(text);
    return page.getByRole("listbox", { name: "Results" });
  }
  const choose = async (window: Window, text: string, option: RegExp) => {
    const list = await search(window, text);
    await list.getByRole("option", { name: option }).click();
  };

  test("finds an account, a key, a model, a person and a request of an operator", async () => {
    const { page } = operator;
    await joinMember(home.gateway, home.operator, {
      account: acme,
      role: "owner",
      email: "grace@acme.example",
    });
    await operator.goto("/operator/overview");
    await choose(operator, "acme", /^Acme Corp Account/);
    await title(operator, "Acme Corp");
    await choose(operator, "production", /^acme production Key of Acme Corp/);
    await page.waitForURL(`**/a/${acme}/keys?find=acme+production`);
    await choose(operator, "3-flash", /^svc-3-flash Model/);
    await title(operator, "svc-3-flash");
    await choose(operator, "grace@", /grace@acme\.example/);
    await title(operator, "People");
    await choose(operator, requestId.slice(0, 14), new RegExp(`^${requestId}`));
    await page.waitForURL(`**/operator/requests/${requestId}`);
  });

  test("does things, and asks for the account where it must know", async () => {
    const { page } = operator;
    await operator.goto("/operator/overview");
    await search(operator, "add credit");
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Choose an account" }).fill("acme");
    expect(await operator.barriers()).toEqual([]);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/operator/accounts/${acme}?credit=1`);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL(`**/operator/accounts/${acme}`);
    await choose(operator, "add provider", /^Add provider Action/);
    await page.getByRole("dialog", { name: "Add provider" }).waitFor();
  });

  test("finds nothing of other accounts for a member, and says so", async () => {
    const { window } = home;
    const { page } = window;
    await window.goto(home.path("overview"));
    await search(window, "acme");
    await page.getByText("No results.").waitFor();
    await page.keyboard.press("Escape");
    await choose(window, requestId, new RegExp(`^${requestId}`));
    await page.waitForURL(`**${home.path(`requests/${requestId}`)}`);
    await search(window, "provider");
    await page.getByText("No results.").waitFor();
    await page.keyboard.press("Escape");
    await search(window, "invite");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Invite member" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("fits a phone", async () => {
    const { page } = operator;
    await page.setViewportSize({ width: 390, height: 800 });
    await operator.goto("/operator/keys");
    expect(await operator.overflowPx()).toBeLessThanOrEqual(0);
    await search(operator, "acme");
    await page.getByRole("option", { name: /^acme production/ }).waitFor();
    expect(await operator.overflowPx()).toBeLessThanOrEqual(0);
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1280, height: 900 });
  });
});

describe("the setup checklist", () => {
  const list = ({ page }: Window, name: string) => page.getByRole("region", { name });
  const step = (of: Locator, name: string) => of.getByRole("listitem").filter({ hasText: name });

  test("of an operator shows what the data says, and leads to the next step", async () => {
    const { page } = operator;
    await operator.goto("/operator/overview");
    const setup = list(operator, "Set up your gateway");
    await setup.getByText("3 of 5 done").waitFor();
    expect(await operator.barriers()).toEqual([]);
    expect(await step(setup, "Price your models").innerText()).toContain("1 model needs a price");
    expect(await step(setup, "Connect a provider").getByRole("link").count()).toBe(0);
    await home.operator.ask("POST /api/prices", {
      body: { model: "unpriced", price: { input: "1", output: "1" } },
    });
    await home.gateway.server.operations.accounts.setLimits({ account: acme, budget: "5/day" });
    await page.reload();
    await title(operator, "Overview");
    await page.getByText("Spend", { exact: false }).first().waitFor();
    await setup.waitFor({ state: "detached" });
  });

  test("of an owner is smaller, and stays dismissed", async () => {
    const { window } = home;
    const { page } = window;
    await window.goto(home.path("overview"));
    const setup = list(window, "Set up this account");
    await setup.getByText("Make a call").waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await window.overflowPx()).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await submit(setup, "Dismiss checklist");
    await page.reload();
    await title(window, "Overview");
    await page.getByText("Newest requests").first().waitFor();
    expect(await setup.count()).toBe(0);
    // It follows the person into another browser.
    const other = await home.openOther(home.owner);
    await other.goto(home.path("overview"));
    await other.page.getByText("Newest requests").first().waitFor();
    expect(await list(other, "Set up this account").count()).toBe(0);
  });
});
