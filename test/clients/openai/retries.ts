import { expect } from "bun:test";
import { OpenAI } from "openai";
import {
  badRequests,
  chatAnswers,
  chatStreams,
  failures,
  rateLimits,
  vendorError,
} from "../../fake/recordings.ts";
import { thrownBy } from "../../replies/refusal.ts";

import { type Stage, waitsDuring } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Say hello" }];
// Odd, so that no other timer has it; the gateway rounds anything under a second up to one.
const hintMs = 1_037;

/** What the SDK does by itself after an error, told by its own log. */
export function retryChecks(check: Check, stage: Stage): void {
  const talkative = (said: string[], apiKey = stage.gateway.key) =>
    new OpenAI({
      baseURL: stage.gateway.baseUrl,
      apiKey,
      maxRetries: 2,
      logLevel: "info",
      logger: {
        error: () => {},
        warn: () => {},
        info: (line) => said.push(line),
        debug: () => {},
      },
    });

  for (const [name, failure] of [
    ["429", () => rateLimits.milliseconds(hintMs)],
    [
      "503",
      () =>
        vendorError(503, {
          message: "Overloaded.",
          headers: { "retry-after-ms": String(hintMs), "retry-after": "2" },
        }),
    ],
  ] as const)
    check(`retries after a ${name} if the gateway allows it`, async () => {
      stage.gateway.upstream.replyOnce(failure());
      stage.gateway.upstream.replyOnce(chatStreams.openai());
      const said: string[] = [];
      const waits = await waitsDuring(hintMs, async () => {
        const helper = talkative(said).chat.completions.stream({ model, messages });
        expect(await helper.finalContent()).toBe("Hello! How can I help?");
      });
      expect(waits).toBe(1);
      expect(said.filter((line) => line.includes("retrying, 2 attempts remaining"))).toHaveLength(
        1,
      );
      expect(stage.gateway.upstream.requests.length).toBe(2);
    });

  check("retries after a 502 with its own backoff", async () => {
    stage.gateway.upstream.replyOnce(failures.internal());
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const said: string[] = [];
    const { choices } = await talkative(said).chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toStartWith("Hello!");
    expect(said.filter((line) => line.includes("retrying, 2 attempts remaining"))).toHaveLength(1);
    expect(stage.gateway.upstream.requests.length).toBe(2);
  });

  check("does not retry permanent errors", async () => {
    stage.gateway.upstream.replyWith(badRequests.contextTooLong());
    const said: string[] = [];
    const client = talkative(said);
    const cases = [
      () => client.chat.completions.create({ model, messages }),
      () => client.chat.completions.create({ model: "no-such-model", messages }),
      () => client.models.retrieve("no-such-model"),
      () => client.embeddings.create({ model: "svc-embedding-2", input: "x", dimensions: 5 }),
      () => talkative(said, "sk-svc-wrong").models.list(),
    ];
    for (const call of cases) {
      const thrown = await thrownBy(call());
      expect(thrown.headers?.get("x-should-retry")).toBe("false");
    }
    expect(said.filter((line) => line.includes("error; not retryable"))).toHaveLength(cases.length);
    expect(said.join("\n")).not.toContain("retrying");
    expect(stage.gateway.upstream.requests.length).toBe(1);
  });
}
