/** The limit of a connection, in front of a process that takes none. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type DeafListener, startDeafListener } from "../../chaos/deaf-listener.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { flash, openPayer } from "../../setup/money-home.ts";
import { type ServingHome, startServing } from "../../setup/serving-home.ts";

const usage = usageOf({ prompt: 20, completion: 7 });
const cost = 20n * flash.input + 7n * flash.output;

let deaf: DeafListener;
let home: ServingHome;

beforeAll(async () => {
  deaf = await startDeafListener();
  const terms = `endpoint: chat, price: { input: "0.30", output: "2.50" }, timeouts: { connect: 0.5 }`;
  home = await startServing({
    providers: `  deaf: { kind: openai, base_url: "http://127.0.0.1:${deaf.port}/v1", allow_private: true }`,
    models: `
  far: { ${terms}, routes: [{ provider: deaf, model: m }, { provider: second, model: m2, priority: 2 }] }
  near: { ${terms}, routes: [{ provider: first, model: m1 }, { provider: second, model: m2, priority: 2 }] }
  far-only: { ${terms}, routes: [{ provider: deaf, model: other }] }
`,
    environment: { SVC_KEEP_ALIVE_S: "0.1" },
  });
});
afterAll(async () => {
  await home.stop();
  await deaf.stop();
});
beforeEach(() => home.reset());

for (const stream of [false, true])
  test(`a target that takes no connection loses a call to the next one at the connect limit, ${stream ? "streamed" : "whole"}`, async () => {
    await home.gateway.server.operations.providers.reset({ name: "deaf" });
    const payer = await openPayer(home.gateway);
    const options = { text: "from the second", pieces: ["from the second"], usage };
    home.second.replyWith(stream ? chatStreams.openai(options) : chatAnswers.plain(options));
    const response = await payer.chat({ model: "far", stream });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("from the second");
    expect(await payer.receipt()).toMatchObject({
      attempts: "deaf/m upstream_timeout (the connection timed out), second/m2",
      charged: cost,
    });
  });

test("the only target that takes no connection is 504, in our words", async () => {
  const told = await refusalOf(
    home.gateway.call("/chat/completions", {
      model: "far-only",
      messages: [{ role: "user", content: "x" }],
    }),
  );
  expect(told).toMatchObject({ status: 504, code: "upstream_timeout" });
  expect(told.message).not.toContain(String(deaf.port));
});

test("a target that only thinks keeps its call, however long", async () => {
  const spoken = Promise.withResolvers<void>();
  home.first.replyWith([
    { until: spoken.promise },
    { send: chatAnswers.plain({ text: "from the first" }).bytes },
  ]);
  const arrived = home.first.nextRequest();
  const call = home.gateway.call("/chat/completions", {
    model: "near",
    messages: [{ role: "user", content: "x" }],
  });
  const request = await arrived;
  // Past the limit by far, and past the look at it.
  await Bun.sleep(1_300);
  expect(request.abortedByClient).toBe(false);
  spoken.resolve();
  expect(await (await call).text()).toContain("from the first");
  expect(home.second.requests.length).toBe(0);
});
