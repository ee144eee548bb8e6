/** Models as a developer finds and tries them: their page, the playground, the reference. */

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { dialects } from "../../console/src/components/code/dialects.ts";
import { toOpenApi } from "../../src/wire/v1/openapi/openapi.ts";
import { completionJson, completionStream } from "../fake/openai/completion-replies.ts";
import { chatStream, embeddingsReply, openaiEvents, rateLimits } from "../fake/recordings.ts";
import { cutAfter, pausedAfter } from "../fake/script.ts";
import type { RecordedRequest } from "../fake/upstream.ts";
import { willingVendor } from "../fake/willing-vendor.ts";
import { dialogBy, expectRefusal, submit } from "./setup/operator-home.ts";
import { useMemberHome } from "./setup/use-console.ts";

const dayMs = 86_400_000;
const retires = new Date(Date.now() + 30 * dayMs).toISOString().slice(0, 10);

const home = useMemberHome();
const { window } = home;
beforeAll(async () => {
  await home.gateway.server.operations.models.deprecate({
    id: "svc-2-flash",
    retires,
    replacement: "svc-3-flash",
  });
  await window.goto(home.path("models"));
});
beforeEach(() => {
  home.gateway.upstream.reset();
  home.gateway.upstream.replyWith(willingVendor);
});

const button = (name: string) => window.page.getByRole("button", { name, exact: true });
const tab = (name: string) => window.page.getByRole("tab", { name }).click();
const receipt = () => window.page.getByRole("tabpanel").getByRole("group", { name: "Receipt" });
const lastAsked = () => JSON.parse(home.gateway.upstream.requests.at(-1)?.body.toString() ?? "");
async function ask(text: string): Promise<void> {
  await window.page.getByRole("textbox", { name: "Message" }).fill(text);
  await window.page.keyboard.press("Enter");
}
const newestRequest = async () =>
  (await home.owner.ask("GET /api/accounts/:account/requests", { query: { limit: "1" } })).body
    .requests[0];
const poem = (pieces: readonly string[]) => chatStream({ events: openaiEvents({ pieces }) });

describe("a model", () => {
  const card = (id: string) =>
    window.page
      .getByRole("listitem")
      .filter({ has: window.page.getByRole("heading", { name: id, exact: true }) });

  test("is listed with its price, and what becomes of it", async () => {
    const flash = await card("svc-3-flash").innerText();
    expect(flash).toContain("$0.30");
    expect(flash).toContain("$2.50");
    expect(flash).not.toContain("Deprecated");
    const old = await card("svc-2-flash").innerText();
    expect(old).toContain("Deprecated");
    expect(old).toMatch(/Retires on \w{3} \d{1,2}, \d{4}, in (29|30) days/);
    expect(old).toMatch(/Use svc-3-flash instead/);
    expect(old).not.toMatch(/fake|upstream/);
    const reply = await home.gateway.call("/chat/completions", {
      model: "svc-2-flash",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(Date.parse(reply.headers.get("sunset") ?? "")).toBe(Date.parse(retires));
  });

  test("that is tried leads to the playground, which knows the same of it", async () => {
    const { page } = window;
    await page.getByRole("link", { name: "Try it: svc-2-flash" }).click();
    await page.getByText("Use svc-3-flash instead.").waitFor();
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("svc-2-flash");
    await button("Switch to svc-3-flash").click();
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("svc-3-flash");
  });
});

describe("the playground's chat", () => {
  test("sets Markdown as its model meant it, and a reload keeps the conversation", async () => {
    const { page } = window;
    await page.goto(home.path("playground?model=svc-3-flash"));
    const markdown =
      "# Cities\n\n**Paris** and `Rome` <b>so</b>\n\n1. one\n2. two\n\n| City | Country |\n|---|---|\n| Oslo | Norway |\n\n[map](https://example.com/map)";
    home.gateway.upstream.replyOnce(poem(markdown.split(/(?<= )/)));
    await ask("Cities, please");
    const check = async () => {
      await page.getByRole("heading", { name: "Cities", exact: true }).waitFor();
      await page.getByRole("group", { name: "Table in the reply" }).waitFor();
      expect(await page.getByRole("cell", { name: "Norway" }).count()).toBe(1);
      expect(await page.locator("strong", { hasText: "Paris" }).count()).toBe(1);
      // What looks like HTML is text.
      await page.getByText("Paris and Rome <b>so</b>").waitFor();
      const map = page.getByRole("link", { name: "map" });
      expect(await map.getAttribute("rel")).toBe("noopener noreferrer");
    };
    await check();
    await receipt().waitFor();
    expect(await window.barriers()).toEqual([]);
    await page.reload();
    await check();
    await receipt().waitFor();
    await button("Clear conversation").click();
    await page.getByText("Send a message").waitFor();
    await page.reload();
    await page.getByText("Send a message").waitFor();
  });

  test("shows the words as they come, and the receipt when they are all there", async () => {
    const { page } = window;
    const gate = Promise.withResolvers<void>();
    const recording = poem(["Rain ", "falls ", "softly."]);
    home.gateway.upstream.replyOnce(pausedAfter({ recording, parts: 3, until: gate.promise }));
    await ask("A poem, please");
    await page.getByText("Rain falls", { exact: true }).waitFor();
    expect(await receipt().count()).toBe(0);
    gate.resolve();
    await page.getByText("Rain falls softly.", { exact: true }).waitFor();
    await receipt().getByText("Charged").waitFor();
    const { charged_usd: charged, outcome } = await newestRequest();
    expect(outcome).toBe("ok");
    expect(await receipt().innerText()).toContain(`$${charged}`);
  });

  test("is stopped by a button, which the vendor is told at once", async () => {
    const { page } = window;
    const asked = home.gateway.upstream.nextRequest();
    home.gateway.upstream.replyOnce(
      cutAfter({ recording: poem(["Once ", "upon ", "a time"]), parts: 2, by: "hang" }),
    );
    await ask("A long story");
    await page.getByText("Once", { exact: true }).waitFor();
    await button("Stop").click();
    await (await asked).closed;
    expect((await asked).abortedByClient).toBe(true);
    await page
      .getByText(/stopped/i)
      .first()
      .waitFor();
    await button("Send").waitFor();
    await receipt().nth(1).getByText("Charged").waitFor();
    const { id, outcome } = await newestRequest();
    expect(outcome).toBe("left");
    // Looked for until it is written: of a call that was stopped, that may be a moment later.
    const others = window.complaints
      .splice(0)
      .filter((words) => !words.endsWith(`/requests/${id}`));
    expect(others).toEqual([]);
  });

  test("says in words that a vendor or a limit refuses", async () => {
    const { page } = window;
    home.gateway.upstream.replyOnce(rateLimits.seconds(7));
    await ask("Too often");
    const vendors = page.getByRole("alert").filter({ hasText: "Provider rate limit" });
    await vendors.waitFor();
    expect(await vendors.innerText()).toContain("429 upstream_rate_limited");
    await expectRefusal(window, 429);
    const { account, server } = home.gateway;
    await server.operations.accounts.setLimits({ account, rpm: "1" });
    await ask("First of this minute");
    await page.getByText("How can I help?").last().waitFor();
    await ask("Second of this minute");
    const ours = page.getByRole("alert").filter({ hasText: "Rate limit reached" });
    await ours.waitFor();
    expect(await ours.innerText()).toContain("429 rate_limit_exceeded");
    await expectRefusal(window, 429);
    await server.operations.accounts.setLimits({ account, rpm: "none" });
    await submit(ours, "Try again");
  });

  test("sends what is set, and its code is that very call", async () => {
    const { page } = window;
    await button("Clear conversation").click();
    await page.getByLabel("System prompt").fill("Be brief.");
    await page.getByText("Parameters").click();
    await page.getByRole("textbox", { name: "Temperature" }).fill("0.3");
    await page.getByRole("textbox", { name: "Max tokens" }).fill("64");
    await ask("What is a purse?");
    await receipt().getByText("Charged").waitFor();
    expect(lastAsked()).toMatchObject({
      temperature: 0.3,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "What is a purse?" },
      ],
    });
    const dialog = await dialogBy(window, button("Code"), "Code for this call");
    for (const label of ["curl", "Python", "TypeScript"]) {
      await dialog.getByRole("tab", { name: label }).click();
      const code = await dialog.getByLabel(`Code: the call, ${label}`).innerText();
      for (const part of [home.gateway.baseUrl, "svc-3-flash", "0.3", "64", "Be brief.", "purse"])
        expect(code).toContain(part);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });
});

/** Those that the gateway serves, by its own description. */
const servedFormats = dialects.filter(({ path }) => path in Object(toOpenApi()["paths"]));

describe("the playground's formats", () => {
  beforeAll(() =>
    window.page.evaluate(() => {
      for (const name of Object.keys(sessionStorage))
        if (name.startsWith("svc-chat-")) sessionStorage.removeItem(name);
    }),
  );

  test.each(servedFormats)(
    "$label: streams, keeps the conversation, shows errors and code",
    async ({ id, label, path }) => {
      const { page } = window;
      await window.goto(home.path("playground?model=svc-3-flash"));
      const format = page.getByRole("combobox", { name: "API format" });
      await format.click();
      await page.getByRole("option", { name: label, exact: true }).click();
      await page.getByText(`POST /v1${path}`, { exact: true }).waitFor();
      if (id !== "chat") expect(page.url()).toContain(`api=${id}`);

      const gate = Promise.withResolvers<void>();
      const recording = poem(["Snow ", "falls ", "softly."]);
      home.gateway.upstream.replyOnce(pausedAfter({ recording, parts: 3, until: gate.promise }));
      await ask("A poem, please");
      await page.getByText("Snow falls", { exact: true }).waitFor();
      gate.resolve();
      await page.getByText("Snow falls softly.", { exact: true }).waitFor();
      await receipt().getByText("Charged").waitFor();
      await page.getByText("19 tokens in, 10 out").waitFor();
      await page.getByText("Finished").waitFor();
      expect((await newestRequest()).outcome).toBe("ok");

      await ask("Another one");
      await receipt().nth(1).getByText("Charged").waitFor();
      expect(JSON.stringify(lastAsked())).toContain("Snow falls softly.");

      home.gateway.upstream.replyOnce(rateLimits.seconds(7));
      await ask("Too often");
      const refusal = page.getByRole("alert").filter({ hasText: "Provider rate limit" });
      await refusal.waitFor();
      expect(await refusal.innerText()).toContain("429 upstream_rate_limited");
      await expectRefusal(window, 429);

      const dialog = await dialogBy(window, button("Code"), "Code for this call");
      const code = await dialog.getByLabel("Code: the call, curl").innerText();
      expect(code).toContain(`${home.gateway.baseUrl}${path} `);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await button("Clear conversation").click();
      await page.getByText("Send a message").waitFor();
    },
  );

  test("offer what they have, and no more", async () => {
    const { page } = window;
    await window.goto(home.path("playground?model=svc-3-flash&api=messages"));
    await page.getByText("Parameters").click();
    await page.getByRole("textbox", { name: "Temperature" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Seed" }).count()).toBe(0);
    expect(await page.getByRole("checkbox", { name: "JSON mode" }).count()).toBe(0);
    expect(await page.getByRole("textbox", { name: "Stop sequences" }).count()).toBe(1);
    await window.goto(home.path("playground?model=svc-3-flash"));
    await page.getByText("Parameters").click();
    expect(await page.getByRole("textbox", { name: "Seed" }).count()).toBe(1);
  });
});

describe("the playground's other modes", () => {
  test("compare texts by their vectors", async () => {
    const { page } = window;
    home.gateway.upstream.replyWith(({ body }: RecordedRequest) => {
      const { input } = JSON.parse(body.toString()) as { readonly input: readonly string[] };
      return embeddingsReply({ vectors: input.map((text) => [text.includes("cat") ? 1 : 0, 1]) });
    });
    await tab("Embeddings");
    for (const mark of ["E", "D"]) await button(`Remove text ${mark}`).click();
    await page.getByLabel("Text A", { exact: true }).fill("a cat");
    await page.getByLabel("Text B", { exact: true }).fill("another cat");
    await page.getByLabel("Text C", { exact: true }).fill("a bank");
    await button("Compare").click();
    const matrix = page.getByRole("region", { name: "Pairwise similarity" });
    await matrix.waitFor();
    const rows = await matrix.getByRole("row").allInnerTexts();
    expect(rows.slice(1).map((row) => row.match(/–|-?\d\.\d\d/g))).toEqual([
      ["–", "1.00", "0.71"],
      ["1.00", "–", "0.71"],
      ["0.71", "0.71", "–"],
    ]);
    await receipt().getByText("Charged").waitFor();
    expect((await newestRequest()).endpoint).toBe("embeddings");
  });

  test("speak, with a player that plays it", async () => {
    const { page } = window;
    await tab("Speech");
    await page.getByLabel("Text to speak").fill("Good morning.");
    await page.getByText("Puck", { exact: true }).click();
    await button("Generate").click();
    const audio = page.getByRole("region", { name: "Audio" });
    await audio.getByText("500 ms of speech", { exact: true }).waitFor();
    expect(lastAsked()).toMatchObject({ input: "Good morning.", voice: "Puck" });
    await button("Play").click();
    await page.waitForFunction(
      () => Number(document.querySelector<HTMLInputElement>("input[type=range]")?.value) > 0,
    );
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      audio.getByRole("link", { name: "Download WAV" }).click(),
    ]);
    const bytes = await Bun.file(await download.path()).bytes();
    expect(new TextDecoder().decode(bytes.subarray(0, 4))).toBe("RIFF");
    expect(bytes.length).toBe(44 + 24_000);
    await receipt().getByText("Charged").waitFor();
    expect(await window.barriers()).toEqual([]);
  });
});

describe("the reference", () => {
  test("sends a legacy completion, whole or as a stream, and marks it as a preview", async () => {
    const { page } = window;
    await window.goto("/reference#completions");
    await page.getByText("Preview. This endpoint may change.").waitFor();
    const nav = page.getByRole("navigation", { name: "Endpoints" });
    expect(await nav.getByRole("link", { name: /^POST \/completions Preview$/ }).count()).toBe(1);
    await button("Create 15-minute key").click();
    await page.waitForFunction(() =>
      document.querySelector<HTMLInputElement>("input[type=password]")?.value.startsWith("sk-svc-"),
    );
    await page.getByLabel("Model", { exact: true }).selectOption("svc-3-flash");
    const answer = page.getByRole("region", { name: "Response" });
    home.gateway.upstream.replyOnce(completionJson());
    await button("Send").click();
    await answer.getByText("red, yellow and blue.").waitFor();
    await page.getByLabel("Reply", { exact: true }).selectOption("Streamed (SSE)");
    home.gateway.upstream.replyOnce(completionStream([" green", " and gold"]));
    await button("Send").click();
    await answer.getByText("green and gold", { exact: true }).waitFor();
    expect(await window.barriers()).toEqual([]);
  });

  test("and the changelog are open to anybody", async () => {
    const stranger = await home.openOther();
    await stranger.goto("/changelog");
    await stranger.page.getByRole("heading", { level: 1, name: "Changelog" }).waitFor();
    expect(await stranger.page.getByRole("main").getByRole("listitem").count()).toBeGreaterThan(0);
    await stranger.page.getByRole("link", { name: "API reference" }).click();
    await stranger.page.getByRole("navigation", { name: "Endpoints" }).waitFor();
    await stranger.goto("/reference#chat");
    await stranger.page.getByText("Paste one of your keys").waitFor();
  });
});
