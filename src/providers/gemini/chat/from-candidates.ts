import {
  type ChatChoice,
  type ChatResult,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../../call/chat.ts";
import { upstreamError } from "../../kit/failure.ts";
import { throwTold } from "../told-failure.ts";
import { fromUsageMetadata } from "../usage.ts";
import { objectsOf } from "../wire.ts";
import { toFinishReason } from "./finish-reason.ts";
import { fromLogprobsResult } from "./logprobs.ts";

/** A whole reply. Pictures in an answer are left out: a chat has no place for them. */
export function fromGenerateReply(reply: unknown, provider: string): ChatResult {
  const fields: JsonObject = isJsonObject(reply) ? reply : {};
  throwTold(fields, provider);
  const candidates = objectsOf(fields["candidates"]);
  if (candidates.length === 0)
    throw upstreamError("upstream_error", {
      detail: `${provider} sent a reply without candidates`,
    });
  const choices = candidates.map((candidate, index) => toChoice(candidate, { index, provider }));
  const isWordless = candidates.every((candidate) => partsOf(candidate).length === 0);
  return { choices, usage: fromUsageMetadata(fields["usageMetadata"], isWordless) };
}

interface Said {
  text: string;
  reasoning: string;
  signature: string | undefined;
  readonly calls: JsonObject[];
  hasMedia: boolean;
}

function toChoice(
  candidate: JsonObject,
  { index, provider }: { readonly index: number; readonly provider: string },
): ChatChoice {
  const said: Said = { text: "", reasoning: "", signature: undefined, calls: [], hasMedia: false };
  for (const part of partsOf(candidate)) {
    const { functionCall, thoughtSignature: signature } = part;
    if (isJsonObject(functionCall))
      said.calls.push(fromFunctionCall(functionCall, { signature, provider }));
    else hear(said, part);
  }
  const { text, reasoning, calls, signature, hasMedia } = said;
  const hasCalls = calls.length > 0;
  const saying = { hasWords: text !== "" || reasoning !== "", hasCalls, hasMedia };
  const finish = candidate["finishReason"];
  return {
    index,
    message: {
      role: "assistant",
      content: text === "" && hasCalls ? null : text,
      refusal: null,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(hasCalls ? { tool_calls: calls } : {}),
      ...(signature === undefined ? {} : { extra_content: toExtra(signature) }),
    },
    logprobs: fromLogprobsResult(candidate["logprobsResult"]),
    finishReason: toFinishReason(typeof finish === "string" ? finish : "", { saying, provider }),
  };
}

function hear(said: Said, { text, thought, thoughtSignature, inlineData }: JsonObject): void {
  if (inlineData !== undefined) said.hasMedia = true;
  if (typeof text !== "string") return;
  if (thought === true) said.reasoning += text;
  else said.text += text;
  if (isText(thoughtSignature)) said.signature = thoughtSignature;
}

export function partsOf({ content }: JsonObject): readonly JsonObject[] {
  return isJsonObject(content) ? objectsOf(content["parts"]) : [];
}

/** A call comes in one piece; what has no id gets one, because the answer to it must name it. */
export function fromFunctionCall(
  { id, name, args }: JsonObject,
  { signature, provider }: { readonly signature: Json | undefined; readonly provider: string },
): JsonObject {
  if (!isText(name))
    throw upstreamError("upstream_error", {
      detail: `${provider} sent a tool call without a name`,
    });
  return {
    id: isText(id) ? id : `call_${crypto.randomUUID().replaceAll("-", "")}`,
    type: "function",
    function: { name, arguments: JSON.stringify(isJsonObject(args) ? args : {}) },
    ...(isText(signature) ? { extra_content: toExtra(signature) } : {}),
  };
}

/** Where the vendor's own compatible face has it. */
export function toExtra(signature: string): JsonObject {
  return { google: { thought_signature: signature } };
}

export const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "";
