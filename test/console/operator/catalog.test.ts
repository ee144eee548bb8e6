import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { hello } from "../../setup/money-home.ts";
import { joinMember, joinOperator } from "../../setup/platform-home.ts";
import { type Window, windowOf } from "../setup/console-home.ts";
import {
  dialogBy,
  expectRefusal,
  fill,
  openedDialog,
  submit,
  told,
} from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  second: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [{ provider: fake, model: upstream-chat, cost: { input: "0.10", output: "1.20" } }, { provider: second, model: other-chat, priority: 2 }] }
  svc-2-flash: { endpoint: chat, price: { input: "0.10", output: "0.40" }, routes: [{ provider: fake, model: upstream-old-chat }] }
`;
const retires = "2999-01-31";

const home = useOperatorHome({ manifest, isInStore: true });
let owner: Window;
beforeAll(async () => {
  const { gateway, operator } = home;
  gateway.upstream.replyWith(chatAnswers.plain());
  const member = await joinMember(gateway, operator, { role: "owner" });
  owner = await home.openOther(member.cookie);
});

const button = (name: string) => home.window.page.getByRole("button", { name });
const call = (model: string) => home.gateway.call("/chat/completions", { ...hello, model });
const rowOf = ({ page }: Window, model: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name: model, exact: true }) });
/** The model that the vendor is asked for when a caller names `model`. */
async function askedFor(model: string): Promise<unknown> {
  expect((await call(model)).status).toBe(200);
  const body = home.gateway.upstream.requests.at(-1)?.json as { model?: unknown } | undefined;
  return body?.model;
}

describe("routes that are edited", () => {
  const routeRows = () =>
    home.window.page.getByRole("table", { name: "Routes of svc-3-flash" }).getByRole("row");
  const shareOf = (model: string) =>
    routeRows().filter({ hasText: model }).getByRole("cell").nth(4);

  async function edit(target: string, change: { label: string; value: string }) {
    const dialog = await dialogBy(home.window, button(`Edit ${target}`), `Edit ${target}`);
    await dialog.getByLabel(change.label).fill(change.value);
    await submit(dialog, "Save changes");
  }

  test("take effect with the next call: the lowest priority is tried first", async () => {
    expect(await askedFor("svc-3-flash")).toBe("upstream-chat");
    await home.window.goto("/operator/catalog/svc-3-flash");
    await told(routeRows().nth(1), "upstream-chat");
    await edit("fake/upstream-chat", { label: "Priority", value: "3" });
    await told(routeRows().nth(1), "other-chat");
    await told(routeRows().nth(2), "upstream-chat");
    await told(shareOf("upstream-chat"), /^0%/);
    await told(shareOf("other-chat"), "100%");
    expect(await askedFor("svc-3-flash")).toBe("other-chat");
    const { routes } = await home.gateway.server.operations.catalog.show({ id: "svc-3-flash" });
    expect(routes.find(({ provider }) => provider === "fake")).toMatchObject({
      priority: 3,
      cost: { input: "0.10", output: "1.20" },
    });
  });

  test("are added with a cost and removed, each in its row", async () => {
    const { window, gateway } = home;
    const dialog = await dialogBy(window, button("Add route"), "Add route");
    await dialog.getByLabel("Provider").selectOption("second");
    await fill(dialog, { "Upstream model": "other-chat", Priority: "1" });
    const add = dialog.getByRole("button", { name: "Add route" });
    await add.click();
    await dialog.getByRole("alert").getByText("Duplicate route to second/other-chat").waitFor();
    await expectRefusal(window, 400);
    await dialog.getByLabel("Upstream model").fill("third-chat");
    const cost = dialog.getByLabel("Input, USD per 1M tokens", { exact: true });
    await cost.fill("cheap");
    await add.click();
    // At its field, and by its label.
    await dialog.getByText("Enter an amount in USD").waitFor();
    expect(await cost.getAttribute("aria-invalid")).toBe("true");
    await expectRefusal(window, 400);
    await cost.fill("0.25");
    await add.click();
    await dialog.waitFor({ state: "detached" });
    await told(routeRows().nth(1), "third-chat");
    expect(await askedFor("svc-3-flash")).toBe("third-chat");
    const { routes } = await gateway.server.operations.catalog.show({ id: "svc-3-flash" });
    expect(routes.at(-1)).toMatchObject({ provider: "second", cost: { input: "0.25" } });

    await button("Remove second/third-chat").click();
    const question = await openedDialog(window, "Remove the route to second/third-chat?");
    await submit(question, "Remove", { exact: true });
    await routeRows().filter({ hasText: "third-chat" }).waitFor({ state: "detached" });
    expect(await askedFor("svc-3-flash")).toBe("other-chat");
  });
});

describe("a model that is added by the form", () => {
  test("is served at once where it has a route and a price", async () => {
    const { window, gateway } = home;
    await window.goto("/operator/catalog");
    const form = await dialogBy(window, button("Add model"), "Add model");
    const id = form.getByLabel("Model ID");
    await id.fill("svc-3-flash");
    await form.getByLabel("Upstream model").fill("upstream-new");
    await form.getByLabel(/^Input, USD/).fill("1");
    await form.getByLabel(/^Output, USD/).fill("2");
    await form.getByRole("button", { name: "Add model" }).click();
    await form.getByText('Model "svc-3-flash" already exists.').waitFor();
    expect(await id.getAttribute("aria-invalid")).toBe("true");
    await expectRefusal(window, 409);
    await id.fill("svc-4-flash");
    await form.getByRole("button", { name: "Add model" }).click();
    await window.page.getByRole("heading", { name: "svc-4-flash", level: 1 }).waitFor();
    expect(await askedFor("svc-4-flash")).toBe("upstream-new");
    expect(await gateway.server.operations.catalog.show({ id: "svc-4-flash" })).toMatchObject({
      price: { input: "1.00", output: "2.00" },
      source: { kind: "store" },
    });
  });
});

describe("a model that a file defines", () => {
  const inFile = `
providers:
  fake: { kind: openai, base_url: "https://example.com/v1" }
models:
  provisioned: { endpoint: chat, max_output_tokens: 512, routes: [{ provider: fake, model: one, cost: { input: 1 } }, { provider: fake, model: two, priority: 2 }] }
  priced: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: one }] }
`;
  let gateway: TestGateway;
  let window: Window;
  beforeAll(async () => {
    gateway = await startTestGateway({ manifest: inFile });
    const { cookie } = await joinOperator(gateway);
    window = await windowOf(home.browser, gateway, { cookie });
  });
  afterAll(async () => {
    await window.close();
    await gateway.stop();
  });
  const onPage = (name: string) => window.page.getByRole("button", { name, exact: true });
  const note = "Defined in svc.yaml. Change it there.";

  test("is marked with the file's name, and what the file states is read-only", async () => {
    await window.goto("/operator/catalog");
    const row = rowOf(window, "provisioned");
    await row.getByText("svc.yaml", { exact: true }).waitFor();
    await window.goto("/operator/catalog/provisioned");
    const routes = window.page.getByRole("region", { name: "Routes" });
    await routes.getByText(note).waitFor();
    for (const name of ["Add route", "Edit fake/one", "Remove fake/one", "Set cost of fake/one"])
      expect(await onPage(name).count()).toBe(0);
    const form = await dialogBy(window, onPage("Edit settings"), "Edit provisioned");
    await form.getByText(note).waitFor();
    expect(await form.getByLabel("Max output tokens").isEditable()).toBe(false);
    expect(await form.getByLabel("Endpoint").isEditable()).toBe(false);
    await form.getByLabel("Owned by").fill("acme");
    await submit(form, "Save changes");
    const { owned_by: owner } = await gateway.server.operations.catalog.show({
      id: "provisioned",
    });
    expect(owner).toBe("acme");
  });

  test("lets a cost and a price be set that the file does not state", async () => {
    const form = await dialogBy(window, onPage("Set cost of fake/two"), "Cost of fake/two");
    expect(await form.getByLabel("Upstream model").isEditable()).toBe(false);
    await form.getByLabel("Output, USD per 1M tokens", { exact: true }).fill("3");
    await submit(form, "Save changes");
    const { routes } = await gateway.server.operations.catalog.show({ id: "provisioned" });
    expect(routes[1]?.cost).toEqual({ output: "3.00" });
    expect(await onPage("Set price").count()).toBe(1);
    await window.goto("/operator/catalog/priced");
    expect(await onPage("Set price").count()).toBe(0);
    const price = window.page.getByRole("region", { name: "Price" });
    await price.getByText(note).waitFor();
    expect(await onPage("Deprecate").count()).toBe(1);
  });
});

describe("a model that goes", () => {
  test("is deprecated with its day and successor, which callers and members are told", async () => {
    const { window, gateway } = home;
    const before = await call("svc-2-flash");
    expect(before.headers.get("deprecation")).toBeNull();
    await window.goto("/operator/catalog/svc-2-flash");
    const dialog = await dialogBy(window, button("Deprecate"), "Deprecate svc-2-flash");
    await dialog.getByLabel("Replacement").selectOption("svc-3-flash");
    await dialog.getByLabel("Retires on").fill(retires);
    await submit(dialog, "Deprecate");
    const stages = window.page.getByRole("list", { name: "Lifecycle" }).getByRole("listitem");
    await told(stages.nth(1), /^Deprecated.*from/);
    expect(await stages.nth(1).getAttribute("aria-current")).toBe("step");

    const reply = await call("svc-2-flash");
    expect(reply.headers.get("deprecation")).toMatch(/^@\d{10}$/);
    expect(reply.headers.get("sunset")).toBe(new Date(retires).toUTCString());
    expect(reply.headers.get("link")).toContain("/v1/models/svc-3-flash>");
    const models = await gateway.client().models.list();
    expect(models.data.find(({ id }) => id === "svc-2-flash")).toMatchObject({
      deprecated: true,
      replacement: "svc-3-flash",
    });

    await window.page.getByRole("link", { name: "Catalog" }).first().click();
    const row = rowOf(window, "svc-2-flash");
    await row.getByText("Deprecated", { exact: true }).waitFor();
    await told(row, "Replacement: svc-3-flash");
    await owner.goto(`/a/${gateway.account}/models`);
    const card = owner.page
      .getByRole("listitem")
      .filter({ has: owner.page.getByRole("heading", { name: "svc-2-flash" }) });
    await card.getByText("Deprecated", { exact: true }).waitFor();
    await told(card, "Use svc-3-flash instead.");
  });

  test("has a list of who still calls it", async () => {
    const { window, gateway } = home;
    const { key } = await gateway.server.operations.keys.create({
      account: gateway.account,
      name: "nightly job",
    });
    await gateway.call(
      "/chat/completions",
      { ...hello, model: "svc-2-flash" },
      { headers: { authorization: `Bearer ${key}` } },
    );
    await window.goto("/operator/catalog/svc-2-flash");
    const callers = window.page.getByRole("table", { name: "Callers of svc-2-flash" });
    const row = callers.getByRole("row", { name: /nightly job/ });
    const cells = await row.getByRole("cell").allInnerTexts();
    expect(cells.slice(0, 3)).toEqual(["test", "nightly job", "1"]);
    // Who calls another model is not among them.
    const [told] = await gateway.server.operations.models.callers({ model: "svc-2-flash" });
    expect(await callers.getByRole("row").count()).toBe(1 + (told?.callers.length ?? 0));
    expect(told?.callers.map(({ key_name: name }) => name)).toContain("nightly job");
  });

  test("is refused from the moment it is retired, with the code for it", async () => {
    const { window, gateway } = home;
    const dialog = await dialogBy(window, button("Retire now"), "Retire svc-2-flash now?");
    expect((await call("svc-2-flash")).status).toBe(200);
    await submit(dialog, "Retire");
    await button("Retire now").waitFor({ state: "detached" });
    const reply = await call("svc-2-flash");
    expect(reply.status).toBe(403);
    expect(await reply.json()).toMatchObject({ error: { code: "model_retired" } });
    await owner.goto(`/a/${gateway.account}/models`);
    await owner.page.getByText("Retired models (1)").waitFor();
  });
});
