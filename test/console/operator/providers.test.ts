import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { routes } from "../../../src/platform/routes.ts";
import { jsonReply, operatorErrors } from "../../fake/recordings.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { standardManifest } from "../../setup/harness.ts";
import { hello } from "../../setup/money-home.ts";
import { dialogBy, expectRefusal, openedDialog, submit } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const literalKey = "sk-literal-0123456789-never-shown";

/** The file states every option of the provider, so its form has nothing to edit. */
const manifest = standardManifest.replace("image_urls: true", "image_urls: true, reuse: true");

const home = useOperatorHome({ environment: { SVC_BREAKERS: "on" }, manifest });
/** What the platform answered the page. */
const replies: Promise<string>[] = [];
beforeAll(() => {
  home.window.page.on("response", (response) => {
    if (response.url().includes("/api/") && !response.url().includes("/live"))
      replies.push(response.text().catch(() => ""));
  });
});

beforeEach(() => {
  home.gateway.upstream.reset();
  home.gateway.upstream.replyWith(willingVendor);
});

const card = (name: string) => home.window.page.getByRole("region", { name, exact: true });
const button = (name: string) => home.window.page.getByRole("button", { name });
const call = (model: string) => home.gateway.call("/chat/completions", { ...hello, model });
const stateOf = async (name: string) => {
  const providers = await home.gateway.server.operations.providers.list({});
  return providers.find((one) => one.name === name)?.targets?.map(({ state }) => state);
};

describe("a provider", () => {
  test("that refuses its key is out of service with the reason, until it is put back", async () => {
    const { window, gateway } = home;
    gateway.upstream.replyWith(operatorErrors.badKey());
    expect((await call(hello.model)).status).toBe(502);
    await window.goto("/operator/providers");
    const row = card("fake").getByRole("row", { name: /upstream-chat/ });
    expect(await row.innerText()).toMatch(/Failing[\s\S]*Skipped\. The provider rejects the key\./);
    expect(await stateOf("fake")).toContain("open");
    await button("Retry fake now").click();
    // It was put back and has not served yet, which is not green.
    await row.getByText("Untested", { exact: true }).waitFor();
    await button("Retry fake now").waitFor({ state: "detached" });
    expect(await stateOf("fake")).not.toContain("open");
    gateway.upstream.replyWith(willingVendor);
    expect((await call(hello.model)).status).toBe(200);
    await row.getByText("Serving", { exact: true }).waitFor();
  });

  test("is tested one call after another, each told as it ends", async () => {
    const { gateway } = home;
    const gate = Promise.withResolvers<void>();
    gateway.upstream.replyOnce((request) => [
      { until: gate.promise },
      { send: willingVendor(request).bytes },
    ]);
    const first = gateway.upstream.nextRequest();
    await button("Test fake").click();
    await first;
    const steps = card("fake").getByRole("listitem");
    await card("fake").getByText("Call 1 of 5…").waitFor();
    expect(await steps.filter({ hasText: "Waiting" }).count()).toBe(4);
    expect(gateway.upstream.requests).toHaveLength(1);
    gate.resolve();
    await card("fake").getByText("All calls worked.").waitFor();
    expect(gateway.upstream.requests).toHaveLength(5);
  });

  test("whose key is bad is told so in words, with what to do", async () => {
    const { window, gateway } = home;
    gateway.upstream.replyWith(operatorErrors.badKey());
    await button("Test fake").click();
    await card("fake").getByText("5 of 5 calls failed.").waitFor();
    const words = await card("fake").getByRole("listitem").first().innerText();
    expect(words).toContain("FAKE_KEY");
    expect(await window.barriers()).toEqual([]);
    gateway.upstream.replyWith(willingVendor);
    await button("Close").click();
    await card("fake").getByText("5 of 5 calls failed.").waitFor({ state: "detached" });
  });
});

describe("a route to a model that its vendor does not list", () => {
  const listed = (ids: readonly string[]) =>
    home.gateway.upstream.replyWith((request) =>
      request.path.endsWith("/models")
        ? jsonReply({ body: { data: ids.map((id) => ({ id })) } })
        : willingVendor(request),
    );
  const about = "Not in the vendor's list of models";

  test("is marked when the page is opened, and told by a test that all calls pass", async () => {
    const { window, gateway, operator } = home;
    const params = { name: "ollama" };
    const body = { name: "ollama", vendor: "ollama", base_url: gateway.upstream.baseUrl };
    await operator.ask("POST /api/providers", { body });
    const ids = ["big-chat", "loud-tts"];
    await operator.ask("POST /api/providers/:name/models", { params, body: { ids } });
    listed(["big-chat"]);
    await window.goto("/operator/providers");
    const row = card("ollama").getByRole("row", { name: /loud-tts/ });
    await row.getByText(about).waitFor();
    expect(await card("ollama").getByText(about).count()).toBe(1);
    expect(await card("fake").getByText(about).count()).toBe(0);
    await button("Test ollama").click();
    await card("ollama").getByText("All calls worked.").waitFor();
    const steps = card("ollama").getByRole("listitem");
    expect(await steps.last().innerText()).toContain("loud-tts, which serves loud-tts");
    expect(await window.barriers()).toEqual([]);
  });

  test("has no mark where the vendor tells no list", async () => {
    const { window, operator } = home;
    listed([]);
    const answered = window.page.waitForResponse(/providers\/ollama\/listing$/);
    await window.goto("/operator/providers");
    expect(await (await answered).json()).toEqual({ models: null, unlisted: [] });
    await card("ollama")
      .getByRole("row", { name: /loud-tts/ })
      .waitFor();
    expect(await card("ollama").getByText(about).count()).toBe(0);
    await operator.ask("DELETE /api/providers/:name", {
      params: { name: "ollama" },
      query: { empties_models: "true" },
    });
  });
});

const ownServer = "Other OpenAI-compatible server";

describe("a provider that a file defines", () => {
  test("is marked with the file's name, and its form is read-only", async () => {
    const { window, gateway } = home;
    await window.goto("/operator/providers");
    await card("fake").getByText("svc.yaml", { exact: true }).waitFor();
    expect(await button("Remove fake").count()).toBe(0);
    const form = await dialogBy(window, button("View fake"), "View fake");
    await form.getByText("Defined in svc.yaml. Change it there.").waitFor();
    const address = form.getByLabel("Address", { exact: true });
    expect(await address.inputValue()).toBe(gateway.upstream.baseUrl);
    for (const label of ["Address", "API key", "Image URLs"])
      expect(await form.getByLabel(label, { exact: true }).isEditable()).toBe(false);
    expect(await form.getByLabel("Allow a private address").isEnabled()).toBe(false);
    expect(await form.getByRole("button", { name: "Save changes" }).count()).toBe(0);
    await form.getByRole("button", { name: "Close" }).last().click();
    await form.waitFor({ state: "detached" });
  });
});

describe("a provider that is added by the form", () => {
  test("is served and called with its key, which no page and no reply shows", async () => {
    const { window, gateway, operator } = home;
    const form = await dialogBy(window, button("Add provider"), "Add provider");
    await form.getByLabel("Vendor").selectOption({ label: ownServer });
    await form.getByLabel("Name").fill("mine");
    const address = form.getByRole("textbox", { name: "Address" });
    await address.fill(gateway.upstream.baseUrl);
    await form.getByLabel("API key", { exact: true }).fill(literalKey);
    await form.getByRole("button", { name: "Add provider" }).click();
    // A loopback address must be allowed by who gives it.
    const words =
      "This is a private or loopback address. Select “Allow a private address” to use it.";
    await form.getByText(words, { exact: true }).waitFor();
    expect(await address.getAttribute("aria-invalid")).toBe("true");
    await expectRefusal(window, 400);
    await form.getByLabel("Allow a private address").check();
    await form.getByRole("button", { name: "Add provider" }).click();

    const offer = await openedDialog(window, "Add models from mine");
    await offer.getByRole("checkbox", { name: "big-chat" }).check();
    await offer.getByLabel(/^Input, USD/).fill("1");
    await offer.getByLabel(/^Output, USD/).fill("2");
    await submit(offer, "Save 1 model");
    await card("mine").getByText("stored encrypted").waitFor();
    expect((await call("big-chat")).status).toBe(200);
    expect(gateway.upstream.requests.at(-1)?.headers["authorization"]).toBe(`Bearer ${literalKey}`);

    await window.goto("/operator/providers");
    await button("Test mine").click();
    await card("mine").getByText("All calls worked.").waitFor();
    const heard = await Promise.all(replies);
    expect(heard.filter((text) => text.includes('"mine"')).length).toBeGreaterThan(2);
    const told = [await window.page.content(), ...heard];
    // Whatever else an operator can read without naming it.
    for (const { name, reply } of routes)
      if (name.startsWith("GET ") && !name.includes(":") && reply !== undefined)
        told.push(JSON.stringify((await operator.ask(name)).body));
    expect(told.length).toBeGreaterThan(15);
    expect(told.filter((text) => text.includes(literalKey))).toEqual([]);
  });

  test("is edited: another address and key are used with the next call", async () => {
    const { window, gateway } = home;
    const newKey = "sk-another-0123456789";
    await window.goto("/operator/providers");
    const form = await dialogBy(window, button("Edit mine"), "Edit mine");
    const address = form.getByRole("textbox", { name: "Address" });
    await address.fill("no address");
    // The browser's own check would stop it before the server does.
    await form.locator("form").evaluate((element) => element.setAttribute("novalidate", ""));
    await form.getByRole("button", { name: "Save changes" }).click();
    await form.locator("[aria-invalid=true]").waitFor();
    expect(await address.getAttribute("aria-invalid")).toBe("true");
    await expectRefusal(window, 400);
    await address.fill(`${gateway.upstream.baseUrl}/other`);
    await form.getByLabel("API key", { exact: true }).fill(newKey);
    await submit(form, "Save changes");
    expect((await call("big-chat")).status).toBe(200);
    const asked = gateway.upstream.requests.at(-1);
    expect(asked?.headers["authorization"]).toBe(`Bearer ${newKey}`);
    expect(asked?.path).toContain("/other/");
    await card("mine").getByText("/other").waitFor();
  });

  test("is removed with a warning of what nobody serves then", async () => {
    const { window, gateway } = home;
    const dialog = await dialogBy(window, button("Remove mine"), "Remove the provider “mine”?");
    expect(await dialog.innerText()).toContain("These models lose their last route: big-chat");
    await dialog.getByRole("button", { name: "Remove", exact: true }).click();
    await card("mine").waitFor({ state: "detached" });
    expect(await stateOf("mine")).toBeUndefined();
    expect((await call("big-chat")).status).toBe(403);
    expect(gateway.upstream.requests).toEqual([]);
  });
});
