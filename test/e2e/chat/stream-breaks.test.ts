/** Streams that break: a caller always learns it, by the status before the first token, else in the stream. */

import { describe, expect, test } from "bun:test";
import { chatChunk, chatStream, chatStreams, DONE, type Recording } from "../../fake/recordings.ts";
import { cutAfter, type Reply } from "../../fake/script.ts";
import { expectLetGo } from "../../providers/stage.ts";
import {
  BodyReader,
  type ErrorBody,
  type EventStream,
  parseStream,
  readStream,
  textOf,
} from "../../replies/event-stream.ts";
import { refusalOf, thrownBy } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ isOwn: true });

const hello = {
  model: "svc-3-flash",
  messages: [{ role: "user" as const, content: "Say hello" }],
  stream: true as const,
};
const call = () => gateway.call("/chat/completions", hello);
const answer = "Hello! How can I help?";

async function relay(reply: Reply): Promise<EventStream> {
  gateway.upstream.replyOnce(reply);
  return await readStream(await call());
}

function expectBroken(stream: EventStream, code = "upstream_error"): void {
  expect(stream.isDone).toBe(false);
  expect(stream.error).toEqual({
    message: expect.any(String),
    type: "upstream_error",
    param: null,
    code,
  });
  expect(JSON.stringify(stream.error)).not.toMatch(/vendor|fake|127\.0\.0\.1|EngineCore|Sorry/i);
  for (const { choices } of stream.chunks)
    for (const choice of choices) expect(choice.finish_reason).toBeNull();
}

describe("after the first token, a dying upstream becomes an error event, never a clean [DONE]:", () => {
  const deaths: Readonly<Record<string, () => Recording>> = {
    "an error event as vLLM writes it": chatStreams.vllmErrorAfterStart,
    "an error event that is a mere string": () =>
      chatStream({ events: [chatChunk({ delta: { content: answer } }), { error: "died" }] }),
  };
  for (const [name, record] of Object.entries(deaths))
    test(name, async () => {
      const stream = await relay(record());
      expect(textOf(stream)).toBe(answer);
      expectBroken(stream);
    });

  test("the connection breaks between the finish_reason and [DONE]", async () => {
    const seen = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    const parts = recording.parts.length - 2;
    gateway.upstream.replyOnce(cutAfter({ recording, parts, by: "reset", until: seen.promise }));
    const body = new BodyReader(await call());
    await body.until("How can I help?");
    seen.resolve();
    expectBroken(parseStream(await body.rest()));
  });

  test("the SDK throws, so that no half answer passes for a whole one", async () => {
    for (const record of [chatStreams.errorAfterStart, chatStreams.cutBeforeFinish]) {
      gateway.upstream.replyOnce(record());
      const stream = await gateway.client().chat.completions.create(hello);
      let text = "";
      const error = await thrownBy(
        (async () => {
          for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
        })(),
      );
      expect(text).toBe(answer);
      expect(error.code).toBe("upstream_error");
    }
  });
});

describe("before the first token, a failure has its real status:", () => {
  const errorFirst = (error: unknown) => () => chatStream({ events: [{ error }] });
  const cases: readonly (readonly [string, () => Reply, number, string])[] = [
    [
      "vLLM's error as the first event",
      errorFirst({ message: "x", type: "BadRequestError", code: 400 }),
      400,
      "upstream_rejected",
    ],
    [
      "only comments, then the end",
      () => chatStream({ events: [": ping"] }),
      502,
      "upstream_error",
    ],
    ["[DONE] alone", () => chatStream({ events: [DONE] }), 502, "upstream_error"],
    ["an early FIN", () => [{ close: true }], 502, "upstream_error"],
  ];
  for (const [name, reply, status, code] of cases)
    test(name, async () => {
      gateway.upstream.replyWith(reply());
      const response = await call();
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(((await response.json()) as ErrorBody).error.code).toBe(code);
    });

  test("and the SDK throws before it hands out a stream", async () => {
    gateway.upstream.replyOnce(chatStreams.errorFirst());
    const error = await thrownBy(gateway.client().chat.completions.create(hello));
    expect([error.status, error.code]).toEqual([502, "upstream_error"]);
  });
});

describe("the code of an error event", () => {
  const failed = (error: object) => {
    gateway.upstream.replyOnce(chatStream({ events: [{ error }] }));
    return refusalOf(call());
  };

  test("is no status where it is a number of the vendor's own: its type tells", async () => {
    for (const code of [0, 20, 200, 399, 600, 1_305, -1]) {
      expect(await failed({ message: "x", type: "rate_limit_error", code })).toMatchObject({
        status: 429,
        code: "upstream_rate_limited",
      });
      expect(await failed({ message: "x", type: "overloaded_error", code })).toMatchObject({
        status: 503,
        code: "upstream_overloaded",
      });
    }
  });

  test("is one from 400 to 599, whatever the type says", async () => {
    for (const [code, status] of [
      [400, 400],
      [429, 429],
      [504, 504],
      [599, 502],
    ] as const)
      expect((await failed({ message: "x", type: "overloaded_error", code })).status).toBe(status);
  });
});

describe("an upstream that failed is let go of, although it would talk on:", () => {
  const openEnded = (recording: Recording): Reply => [
    { send: Buffer.concat([recording.head, ...recording.parts]) },
    { hang: true },
  ];

  test("[DONE] at once on a line that stays open is a 502 at once", async () => {
    gateway.upstream.replyOnce(openEnded(chatStream({ events: [DONE] })));
    const arrival = gateway.upstream.nextRequest();
    expect(await refusalOf(call())).toMatchObject({ status: 502, code: "upstream_error" });
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  test("one that keeps its connection open after [DONE] does not hold back the caller", async () => {
    gateway.upstream.replyOnce(openEnded(chatStreams.openai()));
    const arrival = gateway.upstream.nextRequest();
    expect(await (await call()).text()).toEndWith("data: [DONE]\n\n");
    await expectLetGo(arrival);
  });
});
