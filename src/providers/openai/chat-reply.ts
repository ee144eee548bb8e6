import {
  type ChatChoice,
  type ChatPart,
  type ChatResult,
  type ChatStream,
  type FinishReason,
  finishReasons,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import { upstreamError } from "../kit/failure.ts";
import { throwTold } from "./told-failure.ts";
import { fromOpenAiUsage } from "./usage.ts";

/** A whole reply. Fields that we do not know stay in the message. */
export function fromOpenAiReply(reply: unknown, provider: string): ChatResult {
  const fields: JsonObject = isJsonObject(reply) ? reply : {};
  throwTold(fields, provider);
  const choices = Array.isArray(fields["choices"]) ? fields["choices"].filter(isJsonObject) : [];
  if (choices.length === 0) throw broken(provider, "a chat reply without choices");
  for (const choice of choices) {
    if (choice["finish_reason"] === "error" || isJsonObject(choice["error"]))
      throwTold({ error: {}, ...choice }, provider);
    if (!isJsonObject(choice["message"])) throw broken(provider, "a choice without a message");
    if (!hasNamedCalls(choice["message"])) throw broken(provider, "a tool call without a name");
  }
  return {
    choices: withPlaces(choices.map(toChoice)),
    usage: fromOpenAiUsage(fields["usage"]),
    extras: toExtras(fields),
  };
}

/** What an upstream says of the whole reply: words of these names, and lists of sources. */
const words = ["system_fingerprint", "service_tier"] as const;
const lists = ["citations", "search_results"] as const;
const maxWordChars = 200;

export function toExtras(reply: JsonObject): JsonObject | undefined {
  let extras: Record<string, Json> | undefined;
  for (const name of words) {
    const value = reply[name];
    if (typeof value !== "string" || value.length > maxWordChars) continue;
    extras ??= {};
    extras[name] = value;
  }
  for (const name of lists) {
    const value = reply[name];
    if (!Array.isArray(value) || value.length === 0) continue;
    extras ??= {};
    extras[name] = value;
  }
  return extras;
}

function broken(provider: string, what: string) {
  return upstreamError("upstream_error", { detail: `${provider} sent ${what}` });
}

function hasNamedCalls({ tool_calls: calls }: JsonObject): boolean {
  if (!Array.isArray(calls)) return true;
  return calls.every((call) => {
    const called = isJsonObject(call) ? call["function"] : undefined;
    const name = isJsonObject(called) ? called["name"] : undefined;
    return typeof name === "string" && name !== "";
  });
}

/** Each choice has a place of its own: where the upstream's do not do, they are counted. */
function withPlaces(choices: readonly ChatChoice[]): readonly ChatChoice[] {
  const [only] = choices;
  if (choices.length === 1 && only !== undefined && isPlace(only.index)) return choices;
  const places = new Set(choices.map(({ index }) => index));
  const areGood = places.size === choices.length && choices.every(({ index }) => isPlace(index));
  return areGood ? choices : choices.map((choice, index) => ({ ...choice, index }));
}

export function isPlace(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** For upstreams that answer a request for a stream with a whole reply. */
export function wholeAsStream(result: ChatResult): ChatStream {
  let left: readonly ChatPart[] | undefined = toParts(result);
  return {
    extras: result.extras,
    async read() {
      const now = left;
      left = undefined;
      return now;
    },
    cancel() {},
  };
}

function toParts({ choices, usage }: ChatResult): ChatPart[] {
  const parts: ChatPart[] = [];
  for (const { index, message, logprobs, finishReason } of choices) {
    const calls = message["tool_calls"];
    const delta = Array.isArray(calls)
      ? {
          ...message,
          tool_calls: calls.map((call, at) => (isJsonObject(call) ? { ...call, index: at } : call)),
        }
      : message;
    parts.push(
      { type: "delta", index, delta, logprobs },
      { type: "finish", index, reason: finishReason },
    );
  }
  if (usage !== undefined) parts.push({ type: "usage", usage });
  parts.push({ type: "done" });
  return parts;
}

/** What vendors call the ends that clients know by one of four words. */
const otherWords: Readonly<Record<string, FinishReason>> = {
  function_call: "tool_calls",
  tool_use: "tool_calls",
  model_length: "length",
  max_tokens: "length",
  safety: "content_filter",
  recitation: "content_filter",
  blocklist: "content_filter",
  prohibited_content: "content_filter",
};

/** Some servers end with "stop" although the model called tools, and some with words of their own. */
export function toFinishReason(word: unknown, hasToolCalls: boolean): FinishReason {
  const plain = finishReasons.find((reason) => reason === word);
  const known = plain ?? otherWords[String(word).toLowerCase()] ?? "stop";
  return known === "stop" && hasToolCalls ? "tool_calls" : known;
}

function toChoice(choice: JsonObject, position: number): ChatChoice {
  // The reply was parsed for us alone: its message is completed in place.
  const message: Record<string, Json | undefined> = isJsonObject(choice["message"])
    ? choice["message"]
    : {};
  const { tool_calls: calls, content } = message;
  const hasToolCalls = Array.isArray(calls) && calls.length > 0;
  message["role"] = "assistant";
  if (typeof content !== "string") {
    message["content"] = toContent(content);
    takeThinking(message, content);
  }
  dropOddTexts(message);
  nameReasoning(message);
  if (message["refusal"] === undefined) message["refusal"] = null;
  if (calls !== undefined && !hasToolCalls) delete message["tool_calls"];
  if (message["function_call"] !== undefined) delete message["function_call"];
  return {
    index: isPlace(choice["index"]) ? choice["index"] : position,
    message,
    logprobs: toLogprobs(choice["logprobs"]),
    finishReason: toFinishReason(choice["finish_reason"], hasToolCalls),
  };
}

export function toLogprobs(value: Json | undefined): Json {
  return isJsonObject(value) ? value : null;
}

/** Texts that some server sends as something else are left out: clients join them as texts. */
export function dropOddTexts(fields: Record<string, Json | undefined>): JsonObject {
  for (const name of ["refusal", "reasoning_content"]) {
    const value = fields[name];
    if (value !== undefined && value !== null && typeof value !== "string") delete fields[name];
  }
  return fields;
}

/** Callers are promised one name for what some servers call `reasoning`; that name stays, too. */
export function nameReasoning(fields: Record<string, Json | undefined>): void {
  const { reasoning } = fields;
  if (typeof reasoning === "string" && reasoning !== "") fields["reasoning_content"] ??= reasoning;
}

/** Some servers send their reasoning as parts of the content. */
export function takeThinking(
  fields: Record<string, Json | undefined>,
  content: Json | undefined,
): void {
  if (!Array.isArray(content)) return;
  let thoughts = "";
  for (const part of content)
    if (isJsonObject(part) && part["type"] === "thinking") thoughts += thoughtsOf(part["thinking"]);
  if (thoughts !== "") fields["reasoning_content"] ??= thoughts;
}

function thoughtsOf(thinking: Json | undefined): string {
  return typeof thinking === "string" ? thinking : (toContent(thinking) ?? "");
}

/** Content is text or null for our callers, although some servers send a list of parts. */
export function toContent(content: Json | undefined): string | null {
  if (isJsonObject(content)) return typeof content["text"] === "string" ? content["text"] : null;
  if (!Array.isArray(content)) return null;
  return content
    .map((part) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}
