/** When bytes move: tokens at once, comments in silence, an end to every wait, and who leaves is let go. */

import { describe, expect, jest, test } from "bun:test";
import { loadConfiguration } from "../../../src/config/load.ts";
import { ActiveCalls } from "../../../src/gateway/active-calls.ts";
import type { Bytes } from "../../fake/http/reply.ts";
import { chatAnswers, chatStreams, failures } from "../../fake/recordings.ts";
import { cutAfter, pausedAfter, type Reply, type Script, type Step } from "../../fake/script.ts";
import { expectLetGo } from "../../providers/stage.ts";
import { BodyReader, type ErrorBody, parseStream } from "../../replies/event-stream.ts";
import { writesOfReply } from "../../replies/http-writes.ts";
import { thrownBy } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const whole = {
  model: "svc-3-flash",
  messages: [{ role: "user" as const, content: "Say hello" }],
};
const hello = { ...whole, stream: true as const };
const silence: Reply = [{ hang: true }];

const call = (gateway: TestGateway, init: RequestInit = {}, body: object = hello) =>
  gateway.call("/chat/completions", body, init);

async function failureOf(response: Response) {
  return { status: response.status, ...((await response.json()) as ErrorBody).error };
}

describe("tokens", () => {
  const gateway = useTestGateway({ isOwn: true });

  test("the reply begins with the upstream's first event, not with its second", async () => {
    const gate = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 1, until: gate.promise }));
    const body = new BodyReader(await call(gateway));
    await body.until('"role":"assistant"');
    gate.resolve();
    expect(await body.rest()).toEndWith("data: [DONE]\n\n");
  });

  test("of two choices, the last finish_reason leaves with [DONE], the first before", async () => {
    const { head, parts, end } = chatStreams.twoChoices();
    const gates = parts.map(() => Promise.withResolvers<void>());
    const steps = parts.flatMap((part, at): Step[] => [
      { until: gates[at]?.promise ?? Promise.resolve() },
      { send: part },
    ]);
    gateway.upstream.replyOnce([{ send: head }, ...steps, { send: end }]);
    gateway.upstream.replyWith(chatAnswers.plain());
    const arrival = gateway.upstream.nextRequest();
    const headers = { authorization: `Bearer ${gateway.key}` };
    const reply = writesOfReply(`${gateway.baseUrl}/chat/completions`, headers, hello);
    await arrival;
    // Between two parts other calls pass through, so that no two are read at once.
    for (const gate of gates) {
      gate.resolve();
      for (let round = 0; round < 2; round++) await (await call(gateway, {}, whole)).json();
    }
    const writes = await reply;
    expect(writes.at(-1)).toContain('"finish_reason":"length"');
    expect(writes.at(-1)).toContain("[DONE]");
    expect(writes.at(-1)).not.toContain('"finish_reason":"stop"');
    expect(writes.join("")).toContain('"finish_reason":"stop"');
  });
});

describe("an upstream that says nothing at first", () => {
  const gateway = useTestGateway({ environment: { SVC_FIRST_BYTE_S: "0.05" } });
  const timedOut = { status: 504, code: "upstream_timeout", type: "upstream_error" };

  for (const body of [hello, whole])
    test(`but half a failure: ${"stream" in body ? "a stream" : "a whole reply"} is a 504, and the upstream is let go`, async () => {
      const arrival = gateway.upstream.nextRequest();
      const recording = failures.internal();
      gateway.upstream.replyOnce(cutAfter({ recording, parts: 0, by: "hang" }));
      expect(await failureOf(await call(gateway, {}, body))).toMatchObject(timedOut);
      await expectLetGo(arrival);
    });
});

/** Slower than any reader: a reader who is slower than the upstream ends the call in another way. */
const slowly = (send: Bytes, times: number): Script =>
  Array.from({ length: times }, (): Script => {
    const pause = {
      get until() {
        return Bun.sleep(3);
      },
    };
    return [pause, { send }];
  }).flat();

describe("an upstream that never falls silent", () => {
  const gateway = useTestGateway({ environment: { SVC_MAX_CALL_S: "1" } });

  test("for longer than max_call: an error event, no [DONE], and the upstream is let go", async () => {
    const { head, parts, end } = chatStreams.openai();
    const token = parts[1] ?? end;
    gateway.upstream.replyOnce([{ send: head }, ...slowly(token, 2_000)]);
    const arrival = gateway.upstream.nextRequest();
    // A model without a price has no cap that would cut it.
    const endless = { ...hello, model: "svc-2-flash" };
    const stream = parseStream(await (await call(gateway, {}, endless)).text());
    expect(stream.chunks.length).toBeGreaterThan(0);
    expect(stream.error?.code).toBe("upstream_timeout");
    expect(stream.isDone).toBe(false);
    await expectLetGo(arrival);
  });
});

test("a comment does not shorten the time for the first token", async () => {
  const gateway = await startTestGateway({
    environment: { SVC_KEEP_ALIVE_S: "0.02", SVC_IDLE_S: "0.06" },
  });
  const gate = Promise.withResolvers<void>();
  gateway.upstream.replyOnce([{ until: gate.promise }, { send: chatStreams.openai().bytes }]);
  const body = new BodyReader(await call(gateway));
  // More silence than is allowed between tokens.
  await body.until(": keep-alive\n\n".repeat(6));
  gate.resolve();
  expect(await body.rest()).toEndWith("data: [DONE]\n\n");
  await gateway.stop();
});

test("as it ships, a silent stream is never without a comment for more than 15 seconds", () => {
  jest.useFakeTimers();
  try {
    const { settings } = loadConfiguration({ SVC_CONFIG: "/dev/null" });
    let nowMs = 0;
    const calls = new ActiveCalls(settings, () => nowMs);
    const pass = (ms: number) => {
      for (let passed = 0; passed < ms; passed++) {
        nowMs += 1;
        jest.advanceTimersByTime(1);
      }
    };
    // Calls begin at any moment, not when the watch happens to look.
    for (const afterMs of [0, 1, 500, 999]) {
      pass(afterMs);
      const call = calls.begin({ endpoint: "chat" });
      let spoken = 0;
      call.onSilence = () => {
        spoken += 1;
      };
      call.waitForUpstream(nowMs);
      for (let count = 1; count <= 4; count++) {
        pass(15_000);
        expect({ afterMs, spoken: Math.min(spoken, count) }).toEqual({ afterMs, spoken: count });
      }
      calls.end(call);
    }
  } finally {
    jest.useRealTimers();
  }
});

describe("a caller who leaves aborts the upstream", () => {
  const gateway = useTestGateway({ isOwn: true });

  type Leave = (arrival: Promise<unknown>) => Promise<unknown>;
  async function expectAbort(reply: Reply, leave: Leave): Promise<void> {
    gateway.upstream.replyOnce(reply);
    const arrival = gateway.upstream.nextRequest();
    await leave(arrival);
    await expectLetGo(arrival);
  }
  const midStream = cutAfter({ recording: chatStreams.openai(), parts: 2, by: "hang" });

  test("by the SDK: stream.controller.abort() in mid-stream", async () => {
    await expectAbort(midStream, async () => {
      const stream = await gateway.client().chat.completions.create(hello);
      for await (const { choices } of stream)
        if (choices[0]?.delta.content === "Hello") stream.controller.abort();
    });
  });

  test("by the SDK: break out of the loop", async () => {
    await expectAbort(midStream, async () => {
      const stream = await gateway.client().chat.completions.create(hello);
      for await (const { choices } of stream) if (choices[0]?.delta.content === "Hello") break;
    });
  });

  test("by the SDK: a signal before the first byte", async () => {
    await expectAbort(silence, async (arrival) => {
      const leave = new AbortController();
      const answer = gateway.client().chat.completions.create(hello, { signal: leave.signal });
      const thrown = thrownBy(answer);
      await arrival;
      leave.abort();
      expect((await thrown).message).toBe("Request was aborted.");
    });
  });
});
