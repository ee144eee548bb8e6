/** The Responses API, as OpenAI documents it. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import type { Content, Driver, Question, Turn } from "../driver.ts";
import { given, listOf, objectOf, openAiError } from "./events.ts";
import { fromResponse } from "./responses-reply.ts";
import { fromResponseStream } from "./responses-stream.ts";

export const responsesDriver: Driver = {
  name: "responses",
  path: "/responses",
  can: {
    turns: true,
    tools: true,
    images: true,
    schemas: true,
    thinking: true,
    stop: false,
    cachedTokens: true,
    writtenTokens: false,
    reasoningTokens: true,
  },
  idForm: /^resp_[0-9a-f]{32,}$/,
  capField: "max_output_tokens",
  endMark: '"type":"response.completed"',
  keepAlive: ": keep-alive\n\n",
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  toBody,
  fromReply: (body) => fromResponse(objectOf(body)),
  fromStream: fromResponseStream,
  fromError: openAiError,
};

function toBody(question: Question): Record<string, Json | undefined> {
  const { model, turns, tools, toolChoice, schema, thinks = false } = question;
  return given({
    model,
    input: turns.flatMap(toItems),
    instructions: question.system,
    max_output_tokens: question.cap,
    temperature: question.temperature,
    top_p: question.topP,
    stream: question.stream,
    store: false,
    tools: tools?.map(({ name, description, parameters }) =>
      given({ type: "function", name, description, parameters, strict: false }),
    ),
    tool_choice:
      typeof toolChoice === "object" ? { type: "function", name: toolChoice.name } : toolChoice,
    text:
      schema === undefined
        ? undefined
        : { format: { type: "json_schema", name: "answer", strict: true, schema } },
    reasoning: thinks ? { effort: "low", summary: "auto" } : undefined,
    include: thinks ? ["reasoning.encrypted_content"] : undefined,
  });
}

function toItems(turn: Turn): readonly JsonObject[] {
  if ("echo" in turn) return listOf(turn.echo).map((item) => objectOf(item));
  if (turn.by === "user") return [{ role: "user", content: toContent(turn.content) }];
  if (turn.by === "tool") {
    const [only] = turn.content;
    const isText = turn.content.length === 1 && typeof only === "string";
    const output = isText ? only : toContent(turn.content);
    return [{ type: "function_call_output", call_id: turn.id, output }];
  }
  const said =
    turn.text === undefined
      ? []
      : [
          {
            type: "message",
            role: "assistant",
            content: [{ type: "output_text", text: turn.text, annotations: [] }],
          },
        ];
  const calls = turn.calls ?? [];
  return [
    ...said,
    ...calls.map(({ id, name, arguments: text }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: text,
    })),
  ];
}

const toContent = (content: Content): readonly JsonObject[] =>
  content.map((part) =>
    typeof part === "string"
      ? { type: "input_text", text: part }
      : {
          type: "input_image",
          detail: "auto",
          image_url: `data:${part.mediaType};base64,${part.base64}`,
        },
  );
