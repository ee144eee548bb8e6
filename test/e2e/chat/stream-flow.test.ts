/** When bytes move: tokens at once, comments in silence, an end to every wait, and who leaves is let go. */

import { describe, expect, jest, test } from "bun:test";
import { connect } from "node:net";
import { loadConfiguration } from "../../../src/config/load.ts";
import { ActiveCalls } from "../../../src/gateway/active-calls.ts";
import type { Bytes } from "../../fake/http/reply.ts";
import { chatAnswers, chatStreams, failures, type Recording } from "../../fake/recordings.ts";
import { cutAfter, pausedAfter, type Reply, type Script, type Step } from "../../fake/script.ts";
import { BodyReader, type ErrorBody, parseStream, textOf } from "../../replies/event-stream.ts";
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
  const gateway = useTestGateway();

  /** Between two parts of the recording other calls pass through, so that no two are read at once. */
  async function writesOf(recording: Recording, body: object): Promise<readonly string[]> {
    const gates = recording.parts.map(() => Promise.withResolvers<void>());
    const steps = recording.parts.flatMap((part, at): Step[] => [
      { until: gates[at]?.promise ?? Promise.resolve() },
      { send: part },
    ]);
    gateway.upstream.replyOnce([{ send: recording.head }, ...steps, { send: recording.end }]);
    gateway.upstream.replyWith(chatAnswers.plain());
    const arrival = gateway.upstream.nextRequest();
    const writes = rawWrites(gateway, body);
    await arrival;
    for (const gate of gates) {
      gate.resolve();
      for (let round = 0; round < 3; round++) await (await call(gateway, {}, whole)).json();
    }
    return writes;
  }

  test("each reaches the caller before the upstream sends the next", async () => {
    const pieces = Array.from({ length: 20 }, (_, at) => `<token ${at}>`);
    const recording = chatStreams.openai({ pieces });
    const gates = pieces.map(() => Promise.withResolvers<void>());
    const steps: Step[] = [{ send: recording.head }];
    for (const [at, part] of recording.parts.entries()) {
      steps.push({ send: part });
      // The first part is the role, the next ones are the tokens.
      const gate = gates[at - 1];
      if (gate !== undefined) steps.push({ until: gate.promise });
    }
    gateway.upstream.replyOnce([...steps, { send: recording.end }]);
    const body = new BodyReader(await call(gateway));
    for (const [at, piece] of pieces.entries()) {
      await body.until(piece);
      expect(body.text).not.toContain(pieces[at + 1] ?? "[DONE]");
      gates[at]?.resolve();
    }
    expect(textOf(parseStream(await body.rest()))).toBe(pieces.join(""));
  });

  test("the reply begins with the upstream's first event, not with its second", async () => {
    const gate = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 1, until: gate.promise }));
    const body = new BodyReader(await call(gateway));
    await body.until('"role":"assistant"');
    gate.resolve();
    expect(await body.rest()).toEndWith("data: [DONE]\n\n");
  });

  test("finish, usage and [DONE] leave in one write", async () => {
    const body = { ...hello, stream_options: { include_usage: true } };
    const writes = await writesOf(chatStreams.openai(), body);
    // The role and three tokens, each by itself.
    expect(writes.length).toBe(5);
    const last = writes.at(-1) ?? "";
    expect(last.match(/^data: .*\n\ndata: .*\n\ndata: \[DONE\]\n\n$/)).not.toBeNull();
    expect(last).toContain('"finish_reason":"stop"');
    expect(last).toContain('"total_tokens":29');
  });

  test("of two choices, the last finish_reason leaves with [DONE], the first before", async () => {
    const writes = await writesOf(chatStreams.twoChoices(), hello);
    expect(writes.at(-1)).toContain('"finish_reason":"length"');
    expect(writes.at(-1)).toContain("[DONE]");
    expect(writes.at(-1)).not.toContain('"finish_reason":"stop"');
    expect(writes.join("")).toContain('"finish_reason":"stop"');
  });
});

describe("an upstream that says nothing at first", () => {
  const gateway = useTestGateway({ environment: { SVC_FIRST_BYTE_S: "0.1" } });
  const timedOut = { status: 504, code: "upstream_timeout", type: "upstream_error" };

  for (const [name, reply] of Object.entries({
    "no head": silence,
    "a head and no event": cutAfter({ recording: chatStreams.openai(), parts: 0, by: "hang" }),
    "half a body": cutAfter({ recording: chatAnswers.plain(), parts: 0, by: "hang" }),
    "half a failure": cutAfter({ recording: failures.internal(), parts: 0, by: "hang" }),
  }))
    for (const body of [hello, whole])
      test(`${name}: ${"stream" in body ? "a stream" : "a whole reply"} is a 504, and the upstream is let go`, async () => {
        const arrival = gateway.upstream.nextRequest();
        gateway.upstream.replyOnce(reply);
        expect(await failureOf(await call(gateway, {}, body))).toMatchObject(timedOut);
        const request = await arrival;
        await request.closed;
        expect(request.abortedByClient).toBe(true);
      });
});

describe("an upstream that falls silent", () => {
  const gateway = useTestGateway({ environment: { SVC_IDLE_S: "0.5" } });

  test("in mid-stream: an error event, no [DONE], and the upstream is let go", async () => {
    const arrival = gateway.upstream.nextRequest();
    const recording = chatStreams.openai();
    gateway.upstream.replyOnce(cutAfter({ recording, parts: 2, by: "hang" }));
    const stream = parseStream(await (await call(gateway)).text());
    expect(textOf(stream)).toBe("Hello");
    expect(stream.error?.code).toBe("upstream_timeout");
    expect(stream.isDone).toBe(false);
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
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
  const gateway = useTestGateway({ environment: { SVC_MAX_CALL_S: "3" } });

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
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });
});

describe("silence is filled with comments", () => {
  const gateway = useTestGateway({ environment: { SVC_KEEP_ALIVE_S: "0.05" } });
  const comment = ": keep-alive\n\n";

  test("before the first token, and then the answer follows", async () => {
    const gate = Promise.withResolvers<void>();
    gateway.upstream.replyOnce([{ until: gate.promise }, { send: chatStreams.openai().bytes }]);
    const response = await call(gateway);
    expect(response.status).toBe(200);
    const body = new BodyReader(response);
    await body.until(comment + comment);
    expect(body.text).not.toContain("data:");
    gate.resolve();
    const stream = parseStream(await body.rest());
    expect(textOf(stream)).toBe("Hello! How can I help?");
    expect(stream.isDone).toBe(true);
    expect(new Set(stream.comments)).toEqual(new Set(["keep-alive"]));
  });

  test("between tokens", async () => {
    const gate = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until: gate.promise }));
    const body = new BodyReader(await call(gateway));
    await body.until("Hello");
    await body.until(comment + comment);
    gate.resolve();
    const stream = parseStream(await body.rest());
    expect(textOf(stream)).toBe("Hello! How can I help?");
    expect(stream.isDone).toBe(true);
  });

  test("a failure after a comment is an error event: the status is gone", async () => {
    for (const failure of [[{ reset: true }] as const, failures.unavailable(3)]) {
      const gate = Promise.withResolvers<void>();
      const steps = "bytes" in failure ? [{ send: failure.bytes }] : failure;
      gateway.upstream.replyOnce([{ until: gate.promise }, ...steps]);
      const body = new BodyReader(await call(gateway));
      await body.until(comment);
      gate.resolve();
      const stream = parseStream(await body.rest());
      expect(stream.chunks).toEqual([]);
      expect(stream.isDone).toBe(false);
      expect(stream.error?.type).toBe("upstream_error");
    }
  });

  test("a caller who leaves after a comment aborts the upstream", async () => {
    const arrival = gateway.upstream.nextRequest();
    gateway.upstream.replyOnce(silence);
    const leave = new AbortController();
    const body = new BodyReader(await call(gateway, { signal: leave.signal }));
    await body.until(comment);
    leave.abort();
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
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
  const gateway = useTestGateway();

  type Leave = (arrival: Promise<unknown>) => Promise<unknown>;
  async function expectAbort(reply: Reply, leave: Leave): Promise<void> {
    gateway.upstream.replyOnce(reply);
    const arrival = gateway.upstream.nextRequest();
    await leave(arrival);
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  }
  const midStream = cutAfter({ recording: chatStreams.openai(), parts: 2, by: "hang" });
  const headOnly = cutAfter({ recording: chatStreams.openai(), parts: 0, by: "hang" });

  for (const [name, body, reply] of [
    ["a stream, before the head", hello, silence],
    ["a stream, before the first event", hello, headOnly],
  ] as const)
    test(`by fetch: ${name}`, async () => {
      await expectAbort(reply, async (arrival) => {
        const leave = new AbortController();
        const response = call(gateway, { signal: leave.signal }, body);
        response.catch(() => {});
        await arrival;
        leave.abort();
        await expect(response).rejects.toThrow();
      });
    });

  test("by fetch: in mid-stream", async () => {
    await expectAbort(midStream, async () => {
      const leave = new AbortController();
      const body = new BodyReader(await call(gateway, { signal: leave.signal }));
      await body.until("Hello");
      leave.abort();
    });
  });

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

  test("who has read the whole stream aborts nothing", async () => {
    gateway.upstream.replyWith(chatStreams.openai());
    for (let round = 0; round < 5; round++) await (await call(gateway)).text();
    const { requests } = gateway.upstream;
    for (const request of requests) expect(request.abortedByClient).toBe(false);
  });
});

/** The HTTP chunks of a streamed reply: one for each write. */
function rawWrites(gateway: TestGateway, body: object): Promise<readonly string[]> {
  const text = JSON.stringify(body);
  const { hostname, port } = new URL(gateway.origin);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return new Promise((resolve, reject) => {
    const reads: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => reads.push(bytes));
    socket.once("error", reject);
    socket.once("end", () => {
      const all = Buffer.concat(reads);
      let rest = all.subarray(all.indexOf("\r\n\r\n") + 4);
      const writes: string[] = [];
      for (;;) {
        const lineEnd = rest.indexOf("\r\n");
        const size = Number.parseInt(rest.subarray(0, lineEnd).toString(), 16);
        if (!(size > 0)) return resolve(writes);
        writes.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size).toString());
        rest = rest.subarray(lineEnd + 2 + size + 2);
      }
    });
  });
}
