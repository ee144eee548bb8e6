/** Many streams as vendors might write them: callers read what was meant, by the rules. */

import { describe, expect, test } from "bun:test";
import { type MeantChoice, type OddStream, oddStream } from "../../fake/openai/odd-streams.ts";
import {
  type EventStream,
  expectWellFormed,
  finishOf,
  readStream,
  reasoningOf,
  type ToolCall,
  textOf,
  toolCallsOf,
} from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const model = "svc-3-flash";
const hello = { model, messages: [{ role: "user", content: "Say hello" }], stream: true };

const path = "/chat/completions";
const seeds = 120;
const perTest = 40;
const withUsage = { stream_options: { include_usage: true } };

describe("whatever a vendor's habits, callers get well-formed streams of what was meant:", () => {
  for (let first = 0; first < seeds; first += perTest)
    test(`seeds ${first} to ${first + perTest - 1}`, async () => {
      for (let seed = first; seed < first + perTest; seed++) await expectMeaningKept(seed);
    });
});

async function expectMeaningKept(seed: number): Promise<void> {
  const { reply, choices, usage, habits } = oddStream(seed);
  const includeUsage = seed % 2 === 0;
  gateway.upstream.replyOnce(reply);
  const body = { ...hello, n: choices.length, ...(includeUsage ? withUsage : {}) };
  const stream = await readStream(await gateway.call(path, body));
  expectMeaning({ stream, choices, habits, includeUsage });
  if (includeUsage && usage !== undefined)
    expect(stream.chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens: usage.prompt_tokens,
      completion_tokens: usage.completion_tokens,
    });
}

describe("broken off anywhere, a stream is never taken for a whole one:", () => {
  for (let first = 0; first < seeds; first += perTest)
    test(`seeds ${first} to ${first + perTest - 1}`, async () => {
      for (let seed = first; seed < first + perTest; seed++) await expectBreakTold(seed);
    });
});

/** A status of its own, an error event at the end, or all that was meant: nothing else. */
async function expectBreakTold(seed: number): Promise<void> {
  const { brokenReply, choices, habits } = oddStream(seed);
  gateway.upstream.replyOnce(brokenReply);
  const reply = await gateway.call(path, { ...hello, n: choices.length });
  if (reply.status !== 200) {
    expect(await refusalOf(reply)).toMatchObject({ status: 502, type: "upstream_error" });
    return;
  }
  const stream = await readStream(reply);
  if (stream.isDone) return expectMeaning({ stream, choices, habits, includeUsage: false });
  expect({ habits, error: stream.error }).toEqual({
    habits,
    error: {
      message: expect.any(String),
      type: "upstream_error",
      param: null,
      code: "upstream_error",
    },
  });
}

/** By the rules, and what was meant. */
function expectMeaning(options: {
  readonly stream: EventStream;
  readonly choices: readonly MeantChoice[];
  readonly habits: OddStream["habits"];
  readonly includeUsage: boolean;
}): void {
  const { stream, choices, habits, includeUsage } = options;
  try {
    expectWellFormed(stream, { model, includeUsage });
  } catch (error) {
    throw new Error(`${JSON.stringify(habits)}: ${String(error)}`, { cause: error });
  }
  const read = choices.map(({ calls }, index) => ({
    text: textOf(stream, index),
    reasoning: reasoningOf(stream, index),
    calls: withMeantIds(toolCallsOf(stream, index), calls),
    finish: finishOf(stream, index),
  }));
  expect({ habits, choices: read }).toEqual({ habits, choices: [...choices] });
}

/** Where the upstream gave no ids, each call has one of ours all the same. */
function withMeantIds(
  read: readonly ToolCall[],
  meant: readonly { readonly id: string }[],
): readonly ToolCall[] {
  const ids = read.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain("");
  return read.map((call, at) => (meant[at]?.id === "" ? { ...call, id: "" } : call));
}
