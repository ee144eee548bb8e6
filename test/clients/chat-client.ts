/** What every client is tried with, in one place: a client is an adapter, and leaves out what it lacks. */

import { expect } from "bun:test";
import { embeddedChat, embeddedModel, embeddedVector } from "../fake/openai/embedded-model.ts";
import {
  badRequests,
  chatAnswers,
  chatStreams,
  embeddingReplies,
  failures,
  type Recording,
  rateLimits,
  TOOL_CALL,
  VECTORS,
} from "../fake/recordings.ts";
import { pausedAfter } from "../fake/script.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";
import { failureOf, type Stage, sentUpstream, waitsDuring, weatherCall } from "./stage.ts";
import type { Check } from "./suite.ts";

export const prompt = "Say hello";
/** The tool of all clients, which answers "7 degrees". */
export const weatherTool = { name: "get_weather", description: "The weather of a city" } as const;

export interface Asked {
  readonly stream?: boolean;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly apiKey?: string;
  readonly model?: string;
  /** Default: none. */
  readonly retries?: number;
  /** Given up when this text has come. */
  readonly until?: string;
}

/** What the client makes of a reply, as far as it reports it. */
export interface Said {
  readonly text: string;
  readonly reasoning?: string | undefined;
  readonly finish?: string | undefined;
  readonly usage: {
    readonly output: number | undefined;
    readonly input?: number | undefined;
    readonly cached?: number | undefined;
  };
}

export interface ChatClient {
  readonly ask: (asked: Asked) => Promise<Said>;
  /** Its texts are lists of parts, for which nothing of the embedded model was recorded. */
  readonly sendsParts?: boolean;
  readonly readsReasoning?: boolean;
  /** Asks what is in a picture. */
  readonly askAbout?: (url: string) => Promise<unknown>;
  /** Lets the model call the weather tool until its last reply, and returns that. */
  readonly useTool?: (options: {
    readonly stream: boolean;
    /** What the tool was called with. */
    readonly calls: unknown[];
  }) => Promise<string>;
  /** Whether it sends back what the model thought before it called a tool. */
  readonly returnsThoughts?: boolean;
  readonly collectCalls?: () => Promise<readonly ToolCall[]>;
  /** An object with a city and a unit. */
  readonly place?: (stream: boolean) => Promise<unknown>;
  readonly streamsPlace?: boolean;
  readonly embed?: (
    texts: readonly string[],
    dimensions?: number,
  ) => Promise<readonly (readonly number[])[]>;
  /** Of the error that it throws. */
  readonly refusal?: (error: Error) => { readonly status: unknown; readonly code: unknown };
  /** Whether it waits as long as the gateway says before it tries again. */
  readonly obeysHints?: boolean;
  readonly canLeave?: boolean;
}

interface ToolCall {
  readonly id: string | undefined;
  readonly arguments: unknown;
}

interface Tried {
  readonly check: Check;
  readonly stage: Stage;
  readonly client: ChatClient;
}

export function chatClientChecks(check: Check, stage: Stage, client: ChatClient): void {
  const tried = { check, stage, client };
  replyChecks(tried);
  if (client.useTool !== undefined) toolChecks(tried, client.useTool);
  if (client.place !== undefined) placeChecks(tried, client.place);
  if (client.embed !== undefined) embeddingChecks(tried, client.embed);
  if (client.refusal !== undefined) refusalChecks(tried, client.refusal);
  if (client.obeysHints === true) retryChecks(tried);
  if (client.canLeave === true) leavingChecks(tried);
}

function replyChecks({ check, stage, client }: Tried): void {
  for (const stream of client.sendsParts === true ? [] : [false, true]) {
    const { text, usage } = embeddedChat[stream ? "streamed" : "whole"];
    check(`${stream ? "streams" : "reads"} a reply of the embedded model, with usage`, async () => {
      stage.gateway.upstream.replyWith(embeddedModel);
      const said = await client.ask({ stream, maxTokens: 5 });
      expect({ text: said.text, output: said.usage.output }).toEqual({
        text,
        output: usage.completion_tokens,
      });
    });
  }

  check("sends the conversation, and reads text, finish reason and usage", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    for (const [at, text] of [
      "Hello! How can I help you today?",
      "Hello! How can I help?",
    ].entries()) {
      const {
        usage,
        finish = "stop",
        ...said
      } = await client.ask({
        stream: at === 1,
        system: "Be brief.",
      });
      const { input = 19, cached = 8, output } = usage;
      expect([said.text, finish, input, cached, output]).toEqual([text, "stop", 19, 8, 10]);
      expect(messagesAt(stage, at)).toEqual([
        { role: "system", content: "Be brief." },
        { role: "user", content: prompt },
      ]);
    }
  });

  if (client.readsReasoning === true)
    check("reads reasoning, streamed or not", async () => {
      stage.gateway.upstream.replyOnce(chatAnswers.reasoning());
      stage.gateway.upstream.replyOnce(chatStreams.reasoning());
      for (const reasoning of ["Six times seven, so forty-two.", "Six times seven."])
        expect(await client.ask({ stream: reasoning.length < 20 })).toMatchObject({
          text: "42",
          reasoning,
        });
    });

  if (client.askAbout !== undefined)
    check("forwards an image unchanged", async () => {
      stage.gateway.upstream.replyWith(chatAnswers.plain());
      await client.askAbout?.(tinyPng);
      const content = [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: tinyPng } },
      ];
      expect(sentUpstream(stage.gateway)["messages"]).toEqual([{ role: "user", content }]);
    });
}

/** What the upstream was sent, with a list of one text as that text. */
function messagesAt({ gateway }: Stage, at: number): readonly object[] {
  const messages = sentUpstream(gateway, at)["messages"] as readonly { content: unknown }[];
  return messages.map((message) => {
    const { content } = message;
    const [part, ...others] = Array.isArray(content) ? content : [];
    return part?.type === "text" && others.length === 0
      ? { ...message, content: part.text }
      : message;
  });
}

export const tinyPng = `data:image/png;base64,${Buffer.from(fixtureBytes("tiny.png")).toString("base64")}`;

function toolChecks(
  { check, stage, client }: Tried,
  useTool: NonNullable<ChatClient["useTool"]>,
): void {
  for (const stream of [false, true])
    check(`runs a tool until the final reply${stream ? ", streamed" : ""}`, async () => {
      const { upstream } = stage.gateway;
      upstream.replyOnce(stream ? chatStreams.toolCall() : chatAnswers.toolCall());
      upstream.replyOnce(stream ? chatStreams.openai() : chatAnswers.plain());
      const calls: unknown[] = [];
      expect(await useTool({ stream, calls })).toStartWith("Hello!");
      expect(calls).toEqual([{ city: "Zürich", unit: "celsius" }]);
      const parameters = { type: "object", required: ["city", "unit"] };
      expect(sentUpstream(stage.gateway, 0)["tools"]).toMatchObject([
        { type: "function", function: { ...weatherTool, parameters } },
      ]);
      expect(messagesAt(stage, 1)).toMatchObject([
        { role: "user", content: prompt },
        { role: "assistant", tool_calls: [TOOL_CALL] },
        { role: "tool", tool_call_id: TOOL_CALL.id, content: "7 degrees" },
      ]);
      expect(upstream.requests.length).toBe(2);
    });

  if (client.returnsThoughts === true)
    check("returns the model's thoughts with the result of a tool", async () => {
      stage.gateway.upstream.replyOnce(weatherCall("I look."));
      stage.gateway.upstream.replyOnce(chatStreams.openai());
      expect(await useTool({ stream: true, calls: [] })).toStartWith("Hello!");
      expect(sentUpstream(stage.gateway)["messages"]).toMatchObject([
        { role: "user" },
        { role: "assistant", reasoning_content: "I look.", tool_calls: [{ id: "call_1" }] },
        { role: "tool", tool_call_id: "call_1", content: "7 degrees" },
      ]);
    });

  if (client.collectCalls !== undefined)
    check("collects parallel tool calls from one stream", async () => {
      stage.gateway.upstream.replyWith(chatStreams.twoToolCalls());
      expect(await client.collectCalls?.()).toEqual([
        { id: "call_vendor_0", arguments: { city: "Bern" } },
        { id: "call_vendor_1", arguments: { city: "Oslo" } },
      ]);
    });
}

function placeChecks(
  { check, stage, client }: Tried,
  place: NonNullable<ChatClient["place"]>,
): void {
  for (const stream of client.streamsPlace === true ? [false, true] : [false])
    check(`gets an object that matches a schema${stream ? ", streamed" : ""}`, async () => {
      const pieces = ['{"city":"Be', 'rn","unit":', '"celsius"}'];
      stage.gateway.upstream.replyWith(
        stream ? chatStreams.openai({ pieces }) : chatAnswers.plain({ text: pieces.join("") }),
      );
      expect(await place(stream)).toEqual({ city: "Bern", unit: "celsius" });
      for (const { json } of stage.gateway.upstream.requests)
        expect(json).toMatchObject({
          response_format: {
            type: "json_schema",
            json_schema: { schema: { type: "object", required: ["city", "unit"] } },
          },
        });
    });
}

function embeddingChecks({ check, stage }: Tried, embed: NonNullable<ChatClient["embed"]>): void {
  check("gets the embedded model's vectors, of one text and of two, in any size", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    for (const dimensions of [undefined, 768, 1536])
      for (const texts of [["A cat sleeps."], ["A cat sleeps.", "Rates rose."]]) {
        const vectors = await embed(texts, dimensions);
        expect(vectors.map(({ length }) => length)).toEqual(texts.map(() => dimensions ?? 3072));
        expect(vectors.map((vector) => vector.map(Math.fround))).toEqual(
          texts.map((text) => embeddedVector(text, dimensions)),
        );
      }
  });

  check("gets vectors in order, whatever encoding and order the upstream uses", async () => {
    const texts = ["one", "two", "three"];
    for (const reply of [
      embeddingReplies.float(),
      embeddingReplies.base64(),
      embeddingReplies.outOfOrder(),
    ]) {
      stage.gateway.upstream.replyOnce(reply);
      expect(await embed(texts)).toEqual(VECTORS.map((vector) => [...vector]));
      expect(sentUpstream(stage.gateway)["input"]).toEqual(texts);
    }
  });
}

const refusals: readonly (readonly [Asked, Recording | undefined, number, string])[] = [
  [{ apiKey: "sk-svc-wrong" }, undefined, 401, "invalid_api_key"],
  [{ model: "no-such-model" }, undefined, 403, "model_not_allowed"],
  [{ temperature: 3 }, undefined, 400, "invalid_request"],
  [{}, rateLimits.seconds(7), 429, "upstream_rate_limited"],
  [{}, failures.internal(), 502, "upstream_error"],
  [{}, failures.unavailable(), 503, "upstream_overloaded"],
  [{}, badRequests.contextTooLong(), 400, "context_length_exceeded"],
];
/** Odd, so that no other timer has it; the gateway rounds anything under a second up to one. */
const hintMs = 1_039;

function refusalChecks(
  { check, stage, client }: Tried,
  refusal: NonNullable<ChatClient["refusal"]>,
): void {
  check("reports what is refused and what fails by status and code", async () => {
    for (const [asked, reply, status, code] of refusals) {
      if (reply !== undefined) stage.gateway.upstream.replyOnce(reply);
      expect(refusal(await failureOf(client.ask(asked)))).toEqual({ status, code });
    }
  });
}

function retryChecks({ check, stage, client }: Tried): void {
  check("retries after the wait that the gateway requests", async () => {
    stage.gateway.upstream.replyOnce(rateLimits.milliseconds(hintMs));
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const waits = await waitsDuring(hintMs, async () => {
      expect((await client.ask({ retries: 1 })).text).toStartWith("Hello!");
    });
    expect(waits).toBe(1);
    expect(stage.gateway.upstream.requests.length).toBe(2);
  });
}

function leavingChecks({ check, stage, client }: Tried): void {
  check("stops the model by aborting in the middle of a stream", async () => {
    const { upstream } = stage.gateway;
    const until = new Promise<void>(() => {});
    const arrival = upstream.nextRequest();
    upstream.replyWith(pausedAfter({ recording: chatStreams.openai(), parts: 2, until }));
    await client.ask({ stream: true, until: "Hello" }).catch(() => {});
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });
}
