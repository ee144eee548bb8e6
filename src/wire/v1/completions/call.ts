import type { TSchema } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { checkBias, checkNested } from "../chat/call.ts";
import type { ChatOrder, ReadOptions } from "../dialect.ts";
import { fieldError, reader } from "../validate.ts";
import {
  type CompletionRequest,
  completionFields,
  maxChoices,
  maxPrompts,
  promptForms,
  usualMaxTokens,
} from "./request.ts";

/** The fields that go upstream beside the prompt, as in a chat. */
const passedOn: ReadonlySet<string> = new Set([
  "suffix",
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "n",
  "best_of",
  "logprobs",
  "echo",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "repetition_penalty",
  "logit_bias",
  "user",
]);

/** A request for a legacy completion. */
export interface TextCompletionOrder extends ChatOrder {
  /** Usage is asked for in a stream. */
  readonly includeUsage: boolean;
  /** Choices are numbered prompt by prompt. */
  readonly choicesPerPrompt: number;
  /** The prompts that the answers repeat; none without `echo`. */
  readonly echoed: readonly string[];
}

type Prompts =
  | { readonly kind: "texts"; readonly texts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly (readonly number[])[] };

export const readCompletionFields = reader<CompletionRequest>(completionFields);
const read = {
  text: form<string>(promptForms.text),
  texts: form<readonly string[]>(promptForms.texts),
  tokens: form<readonly number[]>(promptForms.tokens),
  tokenLists: form<readonly (readonly number[])[]>(promptForms.tokenLists),
};

/** Checks a body and makes it a call. */
export function toTextCompletionOrder(
  body: JsonObject,
  { maxOutputTokens }: Pick<ReadOptions, "maxOutputTokens">,
): TextCompletionOrder {
  const prompts = readPrompts(body);
  const request = readCompletionFields(body);
  const count = prompts.kind === "texts" ? prompts.texts.length : prompts.tokens.length;
  checkTogether(request, prompts.kind, count);
  checkBias(request.logit_bias);
  const sent: Record<string, JsonObject[string]> = { prompt: body["prompt"] };
  for (const name in body)
    if (passedOn.has(name) && !isDefault(name, body[name], request)) sent[name] = body[name];
  for (const name in sent) checkNested(name, sent[name]);
  const { n = 1, best_of: written = n, max_tokens: named, echo = false } = request;
  const stream = request.stream === true;
  const cap = named ?? usualMaxTokens;
  const texts = prompts.kind === "texts" ? prompts.texts : [];
  return {
    call: {
      messages: toMessages(texts, request.suffix),
      maxOutputTokens: maxOutputTokens === undefined ? cap : Math.min(cap, maxOutputTokens),
      options: {},
      original: {
        dialect: "completions",
        body: sent,
        nativeField: "model",
        promptTokens: prompts.kind === "tokens" ? sumOf(prompts.tokens) : 0,
      },
    },
    stream,
    includeUsage: stream && request.stream_options?.include_usage === true,
    choices: count * written,
    writtenPerReturned: written / n,
    choicesPerPrompt: n,
    isCapNamed: named !== undefined,
    echoed: echo ? texts : [],
  };
}

/** A string, 1 to 100 strings, one list of token ids, or 1 to 100 of those. */
export function readPrompts(body: JsonObject): Prompts {
  const { prompt } = body;
  const [first]: readonly (Json | undefined)[] = Array.isArray(prompt) ? prompt : [];
  if (typeof first === "number") return { kind: "tokens", tokens: [read.tokens(body)] };
  if (Array.isArray(prompt) && prompt.length > maxPrompts)
    throw fieldError("prompt", `must have at most ${maxPrompts} entries`);
  if (Array.isArray(first)) return { kind: "tokens", tokens: read.tokenLists(body) };
  return { kind: "texts", texts: Array.isArray(prompt) ? read.texts(body) : [read.text(body)] };
}

/** What no field shows by itself. */
function checkTogether(request: CompletionRequest, kind: Prompts["kind"], prompts: number): void {
  const { n = 1, best_of: written = n, echo = false, stream = false, suffix } = request;
  if (written < n) throw fieldError("best_of", `must be at least n (${n})`);
  if (stream && written > n)
    throw fieldError("best_of", "must be omitted in a stream, because the best are known last");
  if (prompts * written > maxChoices)
    throw fieldError(
      written > n ? "best_of" : prompts > 1 ? "prompt" : "n",
      `must ask for at most ${maxChoices} choices in total: prompts × n, or prompts × best_of`,
    );
  if (request.max_tokens === 0 && !echo)
    throw fieldError("max_tokens", "must be at least 1, unless echo is true");
  if (suffix !== undefined && prompts > 1)
    throw fieldError("suffix", "must be omitted with several prompts. Send one prompt per request");
  if (echo && stream && kind === "tokens")
    throw fieldError(
      "echo",
      "must be omitted in a stream if the prompt is token ids. Send the prompt as text",
    );
}

/** Absent means the same, and some servers refuse the very names. */
function isDefault(name: string, value: Json | undefined, { n = 1 }: CompletionRequest): boolean {
  if (name === "echo") return value === false;
  if (name === "best_of") return value === n;
  if (name === "suffix") return value === "";
  return name === "logit_bias" && isJsonObject(value) && Object.keys(value).length === 0;
}

/** For sizes and counts alone: no upstream gets them. */
function toMessages(texts: readonly string[], suffix: string | undefined): JsonObject[] {
  const all = suffix === undefined ? texts : [...texts, suffix];
  return all.map((content) => ({ role: "user", content }));
}

const sumOf = (lists: readonly (readonly number[])[]) =>
  lists.reduce((sum, { length }) => sum + length, 0);

/** Each form is checked by itself: what is wrong then lies in the form that was meant. */
function form<T>(schema: TSchema): (body: JsonObject) => T {
  const check = reader<{ readonly prompt: T }>(Type.Object({ prompt: schema }));
  return (body) => check(body).prompt;
}
