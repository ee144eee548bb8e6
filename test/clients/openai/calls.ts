import { expect } from "bun:test";
import { OpenAI } from "openai";
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";

import type { Stage } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Say hello" }];

/** What goes around every call. */
export function callChecks(check: Check, stage: Stage): void {
  check("works with a base URL that ends in a slash", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const { baseUrl, key } = stage.gateway;
    const client = new OpenAI({ baseURL: `${baseUrl}/`, apiKey: key, maxRetries: 0 });
    expect((await client.models.list()).data.length).toBeGreaterThan(0);
    const { choices } = await client.chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toStartWith("Hello!");
  });

  check("works with an organization, a project and custom headers", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const client = new OpenAI({
      baseURL: stage.gateway.baseUrl,
      apiKey: stage.gateway.key,
      maxRetries: 0,
      organization: "org-of-the-caller",
      project: "project-of-the-caller",
      defaultHeaders: { "x-of-the-caller": "yes" },
    });
    await client.chat.completions.create({ model, messages });
    expect(JSON.stringify(stage.gateway.upstream.requests[0]?.headers)).not.toContain("of-the-c");
  });

  check("reads the request id of replies, streams and errors", async () => {
    const { completions } = stage.gateway.client().chat;
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const whole = await completions.create({ model, messages }).withResponse();
    const told = { _request_id: whole.response.headers.get("x-request-id") };
    expect(whole.data).toMatchObject(told);
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const streamed = await completions.create({ model, messages, stream: true }).withResponse();
    for await (const chunk of streamed.data) expect(chunk.model).toBe(model);
    const refused = await completions
      .create({ model: "no-such-model", messages })
      .then(() => null)
      .catch((error: InstanceType<typeof OpenAI.APIError>) => error.requestID);
    const ids = [whole.request_id, streamed.request_id, refused];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^req_\w+$/);
  });
}
