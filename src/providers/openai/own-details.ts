import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { TakenBack } from "../../call/quirks.ts";
import { isMarked, isOfAnother, type Owned } from "../kit/provenance.ts";

/**
 * Answers carry what only their vendor wants back; strict servers refuse it. A message keeps what this
 * server takes, and loses its thoughts where another vendor signed them.
 */
export function withOwnDetails(message: JsonObject, takes: TakenBack): JsonObject {
  const { extra_content: extra, reasoning_details: details, tool_calls: calls } = message;
  const hasCallDetails = Array.isArray(calls) && calls.some(isDetailed);
  if (extra === undefined && details === undefined && !hasCallDetails) return message;
  const sent: Record<string, Json | undefined> = { ...message };
  if (isOfAnother(message, ownedBy(takes))) {
    delete sent["reasoning"];
    delete sent["reasoning_content"];
  }
  put(sent, "reasoning_details", ownDetails(details, takes));
  put(sent, "extra_content", ownExtra(extra, takes));
  if (hasCallDetails)
    sent["tool_calls"] = calls.map((call) => (isJsonObject(call) ? plainCall(call, takes) : call));
  return sent;
}

function put(into: Record<string, Json | undefined>, name: string, value: Json | undefined): void {
  if (value === undefined) delete into[name];
  else into[name] = value;
}

const isDetailed = (call: Json) =>
  isJsonObject(call) &&
  (call["extra_content"] !== undefined || call["provider_metadata"] !== undefined);

function plainCall(call: JsonObject, takes: TakenBack): JsonObject {
  const { extra_content: extra, provider_metadata: _metadata, ...rest } = call;
  const own = ownExtra(extra, takes);
  return own === undefined ? rest : { ...rest, extra_content: own };
}

const ownedBy = ({ details, extras = [] }: TakenBack): Owned => ({
  detail: (entry) => details === true && !isMarked(entry),
  extra: (extra) => extras.some((name) => extra[name] !== undefined),
});

function ownDetails(details: Json | undefined, takes: TakenBack): Json | undefined {
  if (!Array.isArray(details)) return undefined;
  const { detail: isOwn } = ownedBy(takes);
  const own = details.filter((entry) => isJsonObject(entry) && isOwn(entry));
  return own.length === 0 ? undefined : own;
}

function ownExtra(extra: Json | undefined, { extras = [] }: TakenBack): Json | undefined {
  if (!isJsonObject(extra)) return undefined;
  const own = extras.flatMap((name) => (extra[name] === undefined ? [] : [[name, extra[name]]]));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}
