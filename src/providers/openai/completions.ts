import { ApiError } from "../../base/errors.ts";
import { piecesOf } from "../../base/json/pieces.ts";
import {
  type ChatCall,
  type ChatChoice,
  type ChatPart,
  type ChatResult,
  type ChatStream,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import { Echo } from "../../call/echo.ts";
import type { ProviderCall } from "../contract.ts";
import { isUnserved, upstreamError } from "../kit/failure.ts";
import { toBody } from "../kit/http.ts";
import { readJson, type UpstreamReply } from "../kit/reply.ts";
import { isPlace, toExtras, toFinishReason, toLogprobs } from "./chat-reply.ts";
import { OpenAiChatStream } from "./chat-stream.ts";
import type { FieldRule } from "./field-rules.ts";
import { toOptions } from "./to-messages.ts";
import { throwTold } from "./told-failure.ts";
import { fromOpenAiUsage } from "./usage.ts";

interface CompletionsOptions {
  readonly name: string;
  readonly rules: readonly FieldRule[];
  readonly send: (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    options: ProviderCall<unknown>,
  ) => Promise<UpstreamReply>;
}

/** Legacy completions, of servers that have them. */
export interface Completions {
  readonly whole: (options: ProviderCall<ChatCall>) => Promise<ChatResult>;
  readonly stream: (options: ProviderCall<ChatCall>) => Promise<ChatStream>;
}

export function createCompletions({ name, rules, send }: CompletionsOptions): Completions {
  const post = (options: ProviderCall<ChatCall>, further: string) =>
    sendRequest(options, { rules, further }).catch(toUnserved);
  const sendRequest = async (options: ProviderCall<ChatCall>, more: Further) => {
    const body = isLong(options.call) ? toLongRequest(options, more) : toRequest(options, more);
    return send("/completions", body instanceof Promise ? await body : body, options);
  };
  const read = (value: unknown, { call }: ProviderCall<ChatCall>) =>
    fromCompletionReply(value, { provider: name, call });
  return {
    async whole(options) {
      const { signal } = options;
      const reply = await post(options, "");
      return read(await readJson(reply, { provider: name, signal }), options);
    },
    async stream(options) {
      const { signal } = options;
      const reply = await post(options, ',"stream":true,"stream_options":{"include_usage":true}');
      const type = (reply.headers.get("content-type") ?? "").toLowerCase();
      if (type.startsWith("text/event-stream"))
        return new OpenAiChatStream({ provider: name, reply, signal });
      return asStream(read(await readJson(reply, { provider: name, signal }), options));
    },
  };
}

interface Further {
  readonly rules: readonly FieldRule[];
  /** More fields, each behind a comma. */
  readonly further: string;
}

function toRequest(options: ProviderCall<ChatCall>, more: Further): string {
  return startOf(options, more) + toBody(fieldsOf(options, more)).slice(1);
}

function startOf({ call, target }: ProviderCall<ChatCall>, { further }: Further): string {
  const cap = call.maxOutputTokens;
  const capped = cap === undefined ? "" : `,"max_tokens":${cap}`;
  return `{"model":${JSON.stringify(target.model)}${capped}${further},`;
}

const fieldsOf = ({ call }: ProviderCall<ChatCall>, { rules }: Further) =>
  toOptions(call.original?.body ?? {}, { cap: call.maxOutputTokens, rules });

/** Text that is not ASCII is written at 3 ns per byte. */
const longChars = 1_000_000;

function isLong({ original }: ChatCall): boolean {
  const prompts = original?.body["prompt"];
  if (!Array.isArray(prompts)) return false;
  let chars = 0;
  for (const prompt of prompts) if (typeof prompt === "string") chars += prompt.length;
  return chars > longChars;
}

async function toLongRequest(options: ProviderCall<ChatCall>, more: Further) {
  const [first, ...others] = await piecesOf(fieldsOf(options, more));
  const start = Buffer.from(startOf(options, more));
  return Buffer.concat([start, first?.subarray(1) ?? new Uint8Array(), ...others]);
}

/**
 * A server without this path, and one whose model only chats, answer as if the model were gone. It is
 * not: chats with it go on, so it is nothing to hold against the target.
 */
function toUnserved(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const { status, vendorCode } = error.upstream ?? {};
  if (!isUnserved(error)) throw error;
  throw new ApiError({
    code: "wrong_endpoint",
    param: "model",
    message: "This model is not available on this endpoint. Use POST /v1/chat/completions.",
    detail: error.detail,
    upstream: { reason: "refused", status, vendorCode },
    cause: error,
  });
}

interface ReplyOptions {
  readonly provider: string;
  readonly call: ChatCall;
}

function fromCompletionReply(reply: unknown, { provider, call }: ReplyOptions): ChatResult {
  const fields: JsonObject = isJsonObject(reply) ? reply : {};
  throwTold(fields, provider);
  const listed = Array.isArray(fields["choices"]) ? fields["choices"].filter(isJsonObject) : [];
  if (listed.length === 0) throw broken(provider, "a completion without choices");
  const choices = listed.map((choice, position) => {
    if (choice["finish_reason"] === "error" || isJsonObject(choice["error"]))
      throwTold({ error: {}, ...choice }, provider);
    if (typeof choice["text"] !== "string") throw broken(provider, "a choice without text");
    return toNative(choice, position);
  });
  return {
    choices: choices.map((choice) => toChoice(choice, call)),
    usage: fromOpenAiUsage(fields["usage"]),
    extras: toExtras(fields),
    native: { choices },
  };
}

const broken = (provider: string, what: string) =>
  upstreamError("upstream_error", { detail: `${provider} sent ${what}` });

type NativeChoice = JsonObject & {
  readonly index: number;
  readonly text: string;
  readonly logprobs: Json;
  readonly finish_reason: ChatChoice["finishReason"];
};

/** Fields that we do not know stay in the choice. */
const toNative = (choice: JsonObject, position: number): NativeChoice => ({
  ...choice,
  index: isPlace(choice["index"]) ? choice["index"] : position,
  text: String(choice["text"]),
  logprobs: toLogprobs(choice["logprobs"]),
  finish_reason: toFinishReason(choice["finish_reason"], false),
});

/** What the model said by itself: that is what is counted. */
function toChoice(
  { index, text, logprobs, finish_reason }: NativeChoice,
  call: ChatCall,
): ChatChoice {
  const content = ownText(text, index, call);
  return { index, message: { role: "assistant", content }, logprobs, finishReason: finish_reason };
}

function ownText(text: string, index: number, { original, maxOutputTokens }: ChatCall): string {
  const { echo, prompt, n } = original?.body ?? {};
  if (echo !== true) return text;
  // Only the prompt was asked for.
  if (maxOutputTokens === 0) return "";
  const prompts: readonly Json[] = Array.isArray(prompt) ? prompt : [prompt ?? ""];
  const own = prompts[Math.floor(index / (typeof n === "number" ? n : 1))];
  return typeof own === "string" ? new Echo(own).ownIn(text) : text;
}

/** For servers that answer a request for a stream with a whole reply. */
function asStream({ native, usage, extras }: ChatResult): ChatStream {
  const parts: ChatPart[] = [];
  for (const { index, text, logprobs, finish_reason: reason } of (native?.["choices"] ??
    []) as readonly NativeChoice[])
    parts.push(
      { type: "delta", index, delta: { content: text }, logprobs },
      { type: "finish", index, reason },
    );
  if (usage !== undefined) parts.push({ type: "usage", usage });
  parts.push({ type: "done" });
  let left: readonly ChatPart[] | undefined = parts;
  return {
    extras,
    async read() {
      const now = left;
      left = undefined;
      return now;
    },
    cancel() {},
  };
}
