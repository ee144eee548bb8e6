import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { hello } from "../../setup/money-home.ts";
import { joinMember } from "../../setup/platform-home.ts";
import type { Window } from "../setup/console-home.ts";
import {
  type OperatorHome,
  openedDialog,
  startOperatorHome,
  told,
} from "../setup/operator-home.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  second: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [{ provider: fake, model: upstream-chat, cost: { input: "0.10", output: "1.20" } }, { provider: second, model: other-chat, priority: 2 }] }
  svc-2-flash: { endpoint: chat, price: { input: "0.10", output: "0.40" }, routes: [{ provider: fake, model: upstream-old-chat }] }
`;
const retires = "2999-01-31";

let home: OperatorHome;
let owner: Window;
beforeAll(async () => {
  home = await startOperatorHome({ manifest, isInStore: true });
  const { gateway, operator } = home;
  gateway.upstream.replyWith(chatAnswers.plain());
  const member = await joinMember(gateway, operator, { account: gateway.account, role: "owner" });
  owner = await home.openOther(member.cookie);
});
afterAll(() => home.stop());
afterEach(() => expect([...home.window.complaints, ...owner.complaints]).toEqual([]));

const button = (name: string) => home.window.page.getByRole("button", { name });
const call = (model: string) => home.gateway.call("/chat/completions", { ...hello, model });
/** The model that the vendor is asked for when a caller names `model`. */
async function askedFor(model: string): Promise<unknown> {
  expect((await call(model)).status).toBe(200);
  const body = home.gateway.upstream.requests.at(-1)?.json as { model?: unknown } | undefined;
  return body?.model;
}

describe("routes that are edited", () => {
  const routeRows = () =>
    home.window.page.getByRole("table", { name: "Routes of svc-3-flash" }).getByRole("row");

  async function edit(change: { readonly label: string; readonly value: string }) {
    await button("Edit routes").click();
    const dialog = await openedDialog(home.window, "Routes of svc-3-flash");
    const first = dialog.getByRole("group", { name: "Route 1" });
    await first.getByLabel(change.label).fill(change.value);
    await dialog.getByRole("button", { name: "Put in force" }).click();
    await dialog.waitFor({ state: "detached" });
  }

  test("are in force with the next call: the lowest priority is asked first", async () => {
    expect(await askedFor("svc-3-flash")).toBe("upstream-chat");
    await home.window.goto("/operator/catalog/svc-3-flash");
    await told(routeRows().nth(1), "upstream-chat");
    await edit({ label: "Priority", value: "3" });
    await told(routeRows().nth(1), "other-chat");
    expect(await askedFor("svc-3-flash")).toBe("other-chat");
    const { routes } = await home.gateway.server.operations.catalog.show({ id: "svc-3-flash" });
    // What the form does not show, it does not lose.
    expect(routes.find(({ provider }) => provider === "fake")).toMatchObject({
      priority: 3,
      cost: { input: "0.10", output: "1.20" },
    });
  });

  test("share calls by weight, and the page says how", async () => {
    await edit({ label: "Priority", value: "2" });
    const share = (model: string) =>
      routeRows().filter({ hasText: model }).getByRole("cell").nth(4);
    await told(share("upstream-chat"), "50%");
    await edit({ label: "Weight", value: "0" });
    await told(share("upstream-chat"), /^0%/);
    await told(share("other-chat"), "100%");
    for (let at = 0; at < 6; at++) expect(await askedFor("svc-3-flash")).toBe("other-chat");
  });
});

describe("a model that goes", () => {
  test("is deprecated with its day and successor, which callers and members are told", async () => {
    const { window, gateway } = home;
    const before = await call("svc-2-flash");
    expect(before.headers.get("deprecation")).toBeNull();
    await window.goto("/operator/catalog/svc-2-flash");
    await button("Deprecate").click();
    const dialog = await openedDialog(window, "Deprecate svc-2-flash");
    await dialog.getByLabel("Model to use instead").selectOption("svc-3-flash");
    await dialog.getByLabel("Retires on").fill(retires);
    await dialog.getByRole("button", { name: "Deprecate it" }).click();
    await dialog.waitFor({ state: "detached" });
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

    await window.page.getByRole("link", { name: "Catalogue" }).first().click();
    const row = window.page.getByRole("row", { name: /^svc-2-flash/ });
    await row.getByText("deprecated", { exact: true }).waitFor();
    await told(row, "then svc-3-flash");
    await owner.goto(`/a/${gateway.account}/models`);
    const card = owner.page
      .getByRole("listitem")
      .filter({ has: owner.page.getByRole("heading", { name: "svc-2-flash" }) });
    await card.getByText("deprecated", { exact: true }).waitFor();
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
    await button("Retire now").click();
    const dialog = await openedDialog(window, "Retire svc-2-flash now?");
    expect((await call("svc-2-flash")).status).toBe(200);
    await dialog.getByRole("button", { name: "Retire it" }).click();
    await dialog.waitFor({ state: "detached" });
    await button("Retire now").waitFor({ state: "detached" });
    const reply = await call("svc-2-flash");
    expect(reply.status).toBe(403);
    expect(await reply.json()).toMatchObject({ error: { code: "model_retired" } });
    await owner.goto(`/a/${gateway.account}/models`);
    await owner.page.getByText("Retired models (1)").waitFor();
  });
});
