/** The way of a newcomer, from the first screen on: the real server, the real models, a real browser. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type ConsoleBrowser, openBrowser, type Window } from "../console/setup/console-home.ts";
import { sendCurl } from "../console/setup/curl.ts";
import { chooseItem } from "../console/setup/tab.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";

setDefaultTimeout(300_000);

let engine: EngineHome;
let browser: ConsoleBrowser;
let window: Window;
beforeAll(async () => {
  [engine, browser] = await Promise.all([
    startEngineHome({ sets: ["chat", "image"] }),
    openBrowser(),
  ]);
  window = await browser.open({ platformUrl: engine.server.platformUrl });
  // Long enough for a model to be loaded on a busy machine.
  window.page.setDefaultTimeout(90_000);
}, 900_000);
afterAll(async () => {
  await browser.close();
  await engine.stop();
});

const button = (name: string | RegExp) => window.page.getByRole("button", { name });
const fixture = (name: string) => new URL(`../fixtures/engine/${name}`, import.meta.url).pathname;
let account = "";
let curl = "";
let requestId = "";

test("the link that the first start prints makes the operator", async () => {
  const { page } = window;
  await page.goto(engine.server.operatorLink ?? "");
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("a long enough password");
  await page.getByLabel("Confirm password").fill("a long enough password");
  await button("Join and sign in").click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});

test("a key is made, and shown once with a call that is ready to send", async () => {
  const { page } = window;
  await page.getByRole("button", { name: /All accounts/ }).click();
  await chooseItem(page, /default/);
  await page.getByRole("link", { name: "Keys" }).click();
  account = /\/a\/(\w+)\//.exec(page.url())?.[1] ?? "";
  await button(/Create key/)
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("my app");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const sample = dialog.getByRole("region", { name: "First call" }).locator("pre").first();
  await sample.waitFor();
  curl = await sample.innerText();
  const [secret = ""] = /sk-svc-\w+/.exec(curl) ?? [];
  expect(secret).toHaveLength(53);
  expect(await dialog.innerText()).toContain(secret);
  expect(await window.barriers()).toEqual([]);
  await dialog.getByRole("button", { name: "I have stored the key" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("my app").first().waitFor();
  expect(await page.content()).not.toContain(secret);
  await page.reload();
  await page.getByText("my app").first().waitFor();
  expect(await page.content()).not.toContain(secret);
});

test("its curl line works, and the request appears on the open page by itself", async () => {
  const { page } = window;
  await page.getByRole("link", { name: "Requests" }).click();
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  const reply = await sendCurl(curl);
  expect(reply.status).toBe(200);
  expect((await reply.text()).length).toBeGreaterThan(10);
  requestId = reply.headers.get("x-request-id") ?? "";
  const row = page.locator(`a[href$="/requests/${requestId}"]`).first();
  await row.waitFor();
  await row.click();
});

test("its receipt adds up, on the page and at the command line", async () => {
  const { page } = window;
  await page.getByRole("heading", { name: "Cost", exact: true }).waitFor();
  const receipt = await engine.home.json<{
    cost_usd: string;
    charged_usd: string;
    outcome: string;
  }>(["receipt", requestId]);
  expect(receipt.outcome).toBe("ok");
  const shown = await page.evaluate(async (path) => {
    const binding = localStorage.getItem("svc-session") ?? "";
    const reply = await fetch(path, { headers: { "x-svc-session": binding } });
    return (await reply.json()) as {
      charged_usd: string;
      arithmetic: { adds_up: boolean; cost_usd: string };
    };
  }, `/api/accounts/${account}/requests/${requestId}`);
  expect(shown.arithmetic).toMatchObject({ adds_up: true, cost_usd: receipt.cost_usd });
  expect(shown.charged_usd).toBe(receipt.charged_usd);
  await page.getByText("adds up").first().waitFor();
});

describe("the playground, with the receipt beside each answer,", () => {
  const panel = () => window.page.getByRole("tabpanel");
  const receipt = () => panel().getByRole("group", { name: "Receipt" }).first();
  const similarity = () => panel().getByRole("region", { name: "Similarity", exact: true });

  test("streams a chat", async () => {
    const { page } = window;
    await page.getByRole("link", { name: "Playground" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("What is the capital of France?");
    await page.keyboard.press("Enter");
    await receipt().waitFor();
    expect(await panel().innerText()).toContain("Paris");
  });

  test("compares images and a video: the cat is nearest to the cat", async () => {
    const { page } = window;
    await page.getByRole("tab", { name: "Embeddings" }).click();
    await page
      .getByRole("textbox", { name: "Model" })
      .or(page.getByRole("combobox", { name: "Model" }))
      .last()
      .click();
    await page.getByRole("option", { name: /multimodal-embedding-1/ }).click();
    await page
      .locator('input[type="file"]')
      .first()
      .setInputFiles(["cat.jpg", "rocket.jpg", "cat-h264.mp4"].map(fixture));
    await panel().getByRole("list", { name: "Chosen files" }).waitFor();
    await panel().getByRole("button", { name: "Compare" }).click();
    await similarity().waitFor();
    await receipt().waitFor();
    const nearest = await similarity().getByRole("listitem").first().innerText();
    expect(nearest).toContain("cat.jpg");
    expect(nearest).toContain("cat-h264.mp4");
  });
});

test("nothing went wrong in the browser on the way", () => {
  expect(window.complaints).toEqual([]);
});
