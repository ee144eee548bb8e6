/** The Responses API, as OpenAI documents it. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import { type Content, type Driver, fullAbilities, type Question, type Turn } from "../driver.ts";
import { given, listOf, objectOf, openAiError } from "./events.ts";
import { fromResponse } from "./responses-reply.ts";
import { fromResponseStream } from "./responses-stream.ts";

export const responsesDriver: Driver = {
  name: "responses",
  path: "/responses",
  can: { ...fullAbilities, stop: false, writtenTokens: false },
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
    tools: tools?.map(({ name, description, parameters, strict = false }) =>
      given({ type: "function", name, description, parameters, strict }),
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
  if (turn.by !== "assistant") return [{ role: turn.by, content: turn.text }];
  const [first = [], ...others] = (turn.calls ?? []).map(({ id, name, arguments: text }) => [
    { type: "function_call", call_id: id, name, arguments: text },
  ]);
  const refusal =
    turn.refusal === undefined ? [] : [toSaid({ type: "refusal", refusal: turn.refusal })];
  return [...toText(turn.text), ...refusal, ...first, ...toText(turn.between), ...others.flat()];
}

const toSaid = (part: JsonObject) => ({ type: "message", role: "assistant", content: [part] });

const toText = (text: string | undefined): readonly JsonObject[] =>
  text === undefined ? [] : [toSaid({ type: "output_text", text, annotations: [] })];

const toContent = (content: Content): readonly JsonObject[] =>
  content.map((part) => {
    if (typeof part === "string") return { type: "input_text", text: part };
    if ("filename" in part) {
      const { filename, base64 } = part;
      return { type: "input_file", filename, file_data: `data:application/pdf;base64,${base64}` };
    }
    const { mediaType, base64, detail = "auto" } = part;
    return { type: "input_image", detail, image_url: `data:${mediaType};base64,${base64}` };
  });
