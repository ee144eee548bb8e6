/** Legacy completions, as OpenAI documents them: one text goes in, one comes out. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import type { Driver, Heard, HeardStream, Question } from "../driver.ts";
import { readChunks, readWhole } from "./chat.ts";
import { check, given, openAiError, textOf } from "./events.ts";

export const completionsDriver: Driver = {
  name: "completions",
  path: "/completions",
  can: {
    turns: false,
    tools: false,
    images: false,
    schemas: false,
    thinking: false,
    stop: true,
    cachedTokens: true,
    writtenTokens: false,
    reasoningTokens: true,
  },
  idForm: /^cmpl-[0-9a-f]{32}$/,
  capField: "max_tokens",
  endMark: "data: [DONE]\n\n",
  keepAlive: ": keep-alive\n\n",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  toBody,
  fromReply,
  fromStream,
  fromError: openAiError,
};

function toBody(question: Question): Record<string, Json | undefined> {
  const { turns, stream } = question;
  const prompt = turns.flatMap((turn) =>
    "content" in turn ? turn.content.filter((part) => typeof part === "string") : [],
  );
  return given({
    model: question.model,
    prompt: prompt.join("\n"),
    max_tokens: question.cap,
    temperature: question.temperature,
    top_p: question.topP,
    stop: question.stop,
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
  });
}

function fromReply(body: unknown): Heard {
  const toChoice = ({ text = null, ...rest }: JsonObject): JsonObject => ({
    ...rest,
    message: { role: "assistant", content: textOf(text) },
  });
  return asText(readWhole(body, "text_completion", toChoice));
}

function fromStream(text: string): HeardStream {
  let isFirst = true;
  const toChoice = ({ text: piece, ...rest }: JsonObject): JsonObject => {
    const delta = { ...(isFirst ? { role: "assistant" } : {}), content: textOf(piece) };
    isFirst = false;
    return { ...rest, delta };
  };
  return asText(readChunks(text, "text_completion", toChoice));
}

/** A text calls no tools, and comes back as one. */
function asText<T extends Heard>(heard: T): T {
  check(heard.finish !== "tool_calls", "finish_reason tool_calls");
  return { ...heard, echo: heard.text };
}
