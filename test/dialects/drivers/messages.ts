/** The Messages API, as Anthropic documents it. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import { type Content, type Driver, fullAbilities, type Question, type Turn } from "../driver.ts";
import { given, listOf, objectOf } from "./events.ts";
import { fromError, fromMessage } from "./messages-reply.ts";
import { fromMessageStream } from "./messages-stream.ts";

/** The format has no default. */
const usualCap = 4_096;

export const messagesDriver: Driver = {
  name: "messages",
  path: "/messages",
  can: { ...fullAbilities, reasoningTokens: false },
  idForm: /^msg_[0-9a-f]{32}$/,
  capField: "max_tokens",
  endMark: '"type":"message_stop"',
  keepAlive: "event: ping\n",
  headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  toBody,
  fromReply: (body) => fromMessage(objectOf(body)),
  fromStream: fromMessageStream,
  fromError,
};

function toBody(question: Question): Record<string, Json | undefined> {
  const { model, system, tools, toolChoice, schema } = question;
  return given({
    model,
    max_tokens: question.cap ?? usualCap,
    system: system === undefined ? undefined : [{ type: "text", text: system }],
    messages: toMessages(question.turns),
    temperature: question.temperature,
    top_p: question.topP,
    stop_sequences: question.stop,
    stream: question.stream,
    tools: tools?.map(({ name, description, parameters, strict }) =>
      given({ name, description, input_schema: parameters ?? { type: "object" }, strict }),
    ),
    tool_choice: toChoice(toolChoice),
    output_config: schema === undefined ? undefined : { format: { type: "json_schema", schema } },
    thinking: question.thinks === true ? { type: "enabled", budget_tokens: 1_024 } : undefined,
  });
}

function toChoice(choice: Question["toolChoice"]): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}

/** Results of several tools go into one turn of the user, as the format wants it. */
function toMessages(turns: readonly Turn[]): readonly JsonObject[] {
  const messages: { readonly role: string; readonly content: JsonObject[] }[] = [];
  for (const turn of turns) {
    const role = turn.by === "tool" ? "user" : turn.by === "developer" ? "system" : turn.by;
    const content = toBlocks(turn);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content: [...content] });
  }
  return messages;
}

function toBlocks(turn: Turn): readonly JsonObject[] {
  if ("echo" in turn) return listOf(turn.echo).map((block) => objectOf(block));
  if (turn.by === "user") return toContent(turn.content);
  if (turn.by === "tool") {
    const content = toContent(turn.content);
    const { id, isError } = turn;
    return [given({ type: "tool_result", tool_use_id: id, content, is_error: isError })];
  }
  if (turn.by !== "assistant") return toText(turn.text);
  const [first = [], ...others] = (turn.calls ?? []).map(({ id, name, arguments: text }) => [
    { type: "tool_use", id, name, input: JSON.parse(text) as Json },
  ]);
  return [...toText(turn.text), ...first, ...toText(turn.between), ...others.flat()];
}

const toText = (text: string | undefined): readonly JsonObject[] =>
  text === undefined ? [] : [{ type: "text", text }];

const toContent = (content: Content): readonly JsonObject[] =>
  content.map((part) => {
    if (typeof part === "string") return { type: "text", text: part };
    const toSource = (mediaType: string) => ({
      type: "base64",
      media_type: mediaType,
      data: part.base64,
    });
    return "filename" in part
      ? { type: "document", title: part.filename, source: toSource("application/pdf") }
      : { type: "image", source: toSource(part.mediaType) };
  });
