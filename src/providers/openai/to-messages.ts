import { isIP } from "node:net";
import { ApiError } from "../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { hostOf, placeOf } from "../kit/address.ts";

/**
 * The messages as a server may have them. Nearly all go as they are; what is looked at is seen in
 * passing, and only what must not go is copied without it.
 */
export function toMessages(
  messages: readonly JsonObject[],
  { takesDetails }: { readonly takesDetails: boolean },
): readonly JsonObject[] {
  let changed: JsonObject[] | undefined;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined) continue;
    const { role, content } = message;
    let sent = message;
    if (role === "assistant" && !takesDetails) sent = withoutDetails(sent);
    if (Array.isArray(content)) {
      checkImages(content, at);
      sent = withPlainCaching(sent, content);
    }
    if (sent === message) continue;
    changed ??= [...messages];
    changed[at] = sent;
  }
  return changed ?? messages;
}

/** Answers of other vendors carry what only these want back; strict servers refuse it. */
function withoutDetails(message: JsonObject): JsonObject {
  const { extra_content: extra, reasoning_details: details, tool_calls: calls } = message;
  const hasCallDetails = Array.isArray(calls) && calls.some(isDetailed);
  if (extra === undefined && details === undefined && !hasCallDetails) return message;
  const { extra_content: _extra, reasoning_details: _details, ...rest } = message;
  if (!hasCallDetails) return rest;
  return {
    ...rest,
    tool_calls: calls.map((call) => (isJsonObject(call) ? plainCall(call) : call)),
  };
}

const isDetailed = (call: Json) =>
  isJsonObject(call) &&
  (call["extra_content"] !== undefined || call["provider_metadata"] !== undefined);

function plainCall(call: JsonObject): JsonObject {
  const { extra_content: _extra, provider_metadata: _metadata, ...rest } = call;
  return rest;
}

/** A server that fetches images would do so from where it stands: not from inside your network. */
function checkImages(content: readonly Json[], at: number): void {
  for (let part = 0; part < content.length; part++) {
    const given = content[part];
    const image = isJsonObject(given) ? given["image_url"] : undefined;
    const url = isJsonObject(image) ? image["url"] : undefined;
    if (typeof url !== "string" || url.startsWith("data:") || !URL.canParse(url)) continue;
    if (isInside(new URL(url)))
      throw new ApiError({
        code: "invalid_request",
        message:
          "The address of an image must be a public one; send the image itself as a data URI.",
        param: `messages[${at}].content[${part}].image_url.url`,
      });
  }
}

/** A name without a dot is one of the network it is looked up in; a file is one of the server's own. */
function isInside(url: URL): boolean {
  const { protocol } = url;
  if (protocol !== "http:" && protocol !== "https:") return protocol === "file:";
  const host = hostOf(url);
  return isIP(host) === 0
    ? /^[^.]*\.?$|\.(localhost|internal|local)\.?$/.test(host)
    : placeOf(host) !== "public";
}

/** To keep what was read for longer costs more than our prices know of. */
function withPlainCaching(message: JsonObject, content: readonly Json[]): JsonObject {
  const isLonger = (part: Json) =>
    isJsonObject(part) &&
    isJsonObject(part["cache_control"]) &&
    part["cache_control"]["ttl"] !== undefined;
  if (!content.some(isLonger)) return message;
  const plain = content.map((part) =>
    isLonger(part) && isJsonObject(part) ? { ...part, cache_control: { type: "ephemeral" } } : part,
  );
  return { ...message, content: plain };
}

/** Thoughts are part of the answer: none may be allowed more than the whole. */
export function toOptions(
  options: JsonObject,
  { cap, keepsReplies }: { readonly cap: number | undefined; readonly keepsReplies: boolean },
): JsonObject {
  const { thinking, reasoning, metadata, store } = options;
  let sent = options;
  if (!keepsReplies && (metadata !== undefined || store !== undefined)) {
    const { metadata: _metadata, store: _store, ...rest } = options;
    sent = rest;
  }
  if (cap === undefined) return sent;
  if (isJsonObject(thinking) && isAbove(thinking["budget_tokens"], cap))
    sent = { ...sent, thinking: { ...thinking, budget_tokens: cap } };
  if (isJsonObject(reasoning) && isAbove(reasoning["max_tokens"], cap))
    sent = { ...sent, reasoning: { ...reasoning, max_tokens: cap } };
  return sent;
}

const isAbove = (value: Json | undefined, cap: number) => typeof value === "number" && value > cap;
