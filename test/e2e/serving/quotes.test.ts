/** What a caller writes cannot take a target out of service, nor reach into the operator's network. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers, chatStreams, errorReply, vendorError } from "../../fake/recordings.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { openPayer, waitUntil } from "../../setup/money-home.ts";
import { type ServingHome, startServing } from "../../setup/serving-home.ts";

let home: ServingHome;

beforeAll(async () => {
  home = await startServing({
    models: `  other: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: first, model: m3 }] }
  another: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: first, model: m4 }] }
  own: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: second, model: m2 }] }`,
  });
});
afterAll(() => home.stop());
beforeEach(() => home.reset());

const messages = [{ role: "user", content: "Say hello" }];
const ask = (more: object = {}) =>
  home.gateway.call("/chat/completions", { model: "chat", messages, ...more });
const health = async () => (await home.targets("first"))["m1"];

describe("a refusal that quotes the caller is one of this call, and the target stays:", () => {
  for (const quoted of [
    "Your credit balance is too low",
    "API key expired",
    "You exceeded your current quota, please check your plan and billing details",
  ])
    test(quoted, async () => {
      home.first.replyWith(
        vendorError(400, { message: `Invalid value for 'stop': '${quoted}'.`, param: "stop" }),
      );
      for (let call = 0; call < 12; call++)
        await expectRefusal(ask(), { status: 400, code: "upstream_rejected" });
      expect(await health()).toMatchObject({ state: "closed", requests: 12, failures: 0 });
      expect(home.second.requests.length).toBe(0);
    });

  test("input that was flagged, though it is told with the status of a bad key", async () => {
    const error = { code: 403, message: "Flagged.", metadata: { flagged_input: "Say hello" } };
    home.first.replyWith(errorReply({ status: 403, body: { error } }));
    await expectRefusal(ask(), { status: 400, code: "content_filtered" });
    expect(await health()).toMatchObject({ state: "closed", failures: 0 });
    expect(home.second.requests.length).toBe(0);
  });
});

describe("a target's own word is heard:", () => {
  for (const [message, reason] of [
    ["Your credit balance is too low to access the API.", "quota"],
    ["API key expired. Please renew the API key.", "auth"],
  ] as const)
    test(message, async () => {
      home.first.replyWith(vendorError(400, { message }));
      home.second.replyWith(chatAnswers.plain());
      expect((await ask()).status).toBe(200);
      await waitUntil("out of service", async () => (await health())?.state === "open");
      expect(await health()).toMatchObject({ state: "open", reason });
    });

  test("credit that is too small for the length asked for: another serves, and the target stays", async () => {
    const message = "This request requires more credits, or fewer max_tokens.";
    home.first.replyWith(vendorError(402, { message }));
    home.second.replyWith(chatAnswers.plain());
    expect((await ask()).status).toBe(200);
    expect(await health()).toMatchObject({ state: "closed", failures: 1 });
    expect([home.first.requests.length, home.second.requests.length]).toEqual([1, 1]);
  });
});

describe("an image", () => {
  const withImage = (url: string) => ({
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ],
  });

  test("at an address inside is refused by its field, asks nobody and costs nothing", async () => {
    const payer = await openPayer(home.gateway);
    home.first.replyWith(chatAnswers.plain());
    const body = { model: "chat", ...withImage("http://169.254.169.254/latest/meta-data") };
    await expectRefusal(payer.chat(body), {
      status: 400,
      code: "invalid_request",
      param: "messages[0].content[1].image_url.url",
    });
    expect([home.first.requests.length, home.second.requests.length]).toEqual([0, 0]);
    expect((await payer.receipt()).charged).toBe(0n);
    expect(await health()).toMatchObject({ state: "closed", failures: 0 });
  });
  test("whose address two parsers read differently goes on as it was parsed", async () => {
    home.first.replyWith(chatAnswers.plain());
    const given = withImage("http://public.example\\@127.0.0.1/x");
    expect((await ask(given)).status).toBe(200);
    const sent = withImage("http://public.example/@127.0.0.1/x");
    expect(home.first.requests[0]?.json).toMatchObject(sent);
  });

  test("goes to a server in the operator's network as data only, unless its provider says so", async () => {
    home.second.replyWith(chatAnswers.plain());
    const own = (url: string) =>
      home.gateway.call("/chat/completions", { model: "own", ...withImage(url) });
    await expectRefusal(own("https://images.example/a.png"), {
      status: 400,
      param: "messages[0].content[1].image_url.url",
    });
    expect(home.second.requests.length).toBe(0);
    expect((await own("data:image/png;base64,iVBORw0KGgo=")).status).toBe(200);
  });

  for (const url of ["https://images.example/a.png", "data:image/png;base64,iVBORw0KGgo="])
    test(`goes upstream as it is: ${url.slice(0, 22)}`, async () => {
      home.first.replyWith(chatAnswers.plain());
      expect((await ask(withImage(url))).status).toBe(200);
      expect(home.first.requests[0]?.json).toMatchObject(withImage(url));
    });
});

test("longer caching and larger budgets of thought than the cap do not go upstream", async () => {
  home.first.replyWith(chatAnswers.plain());
  const text = { type: "text", text: "a long text" };
  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const usual = { cache_control: { type: "ephemeral" } };
  const tool = { type: "function", function: { name: "f", parameters: {} } };
  const response = await ask({
    messages: [{ role: "user", content: [{ ...text, ...hour }], ...hour }],
    tools: [{ ...tool, ...hour }],
    max_tokens: 50,
    thinking: { type: "enabled", budget_tokens: 9_000 },
    reasoning: { max_tokens: 9_000 },
  });
  expect(response.status).toBe(200);
  expect(home.first.requests[0]?.json).toMatchObject({
    messages: [{ role: "user", content: [{ ...text, ...usual }], ...usual }],
    tools: [{ ...tool, ...usual }],
    max_tokens: 50,
    thinking: { type: "enabled", budget_tokens: 50 },
    reasoning: { max_tokens: 50 },
  });
  expect(home.first.requests[0]?.body).not.toContain("ttl");
});

for (const stream of [false, true])
  test(`a call that is repeated without cache_control is one call: one attempt, one receipt, no failure, stream ${stream}`, async () => {
    const refused = vendorError(400, { message: "cache_control: Extra inputs are not permitted" });
    home.first.replyWith(({ body }) =>
      body.includes("cache_control")
        ? refused
        : stream
          ? chatStreams.openai()
          : chatAnswers.plain(),
    );
    const payer = await openPayer(home.gateway);
    const cache_control = { type: "ephemeral" };
    const marked = [{ role: "user", content: [{ type: "text", text: "Hi", cache_control }] }];
    // What was learned of one model is not known of another, nor in other tests.
    const model = stream ? "other" : "another";
    const response = await payer.chat({ model, stream, messages: marked });
    expect(response.status).toBe(200);
    await response.text();
    expect(home.first.requests).toHaveLength(2);
    const [receipt] = await payer.settled(1);
    expect(receipt?.attemptList).toHaveLength(1);
    expect(Object.values(await home.targets("first"))).toContainEqual(
      expect.objectContaining({ state: "closed", requests: 1, failures: 0 }),
    );
  });
