import { type ErrorCode, errorKinds, faultOf } from "../../base/errors.ts";
import { toUsd } from "../../base/money.ts";
import type { Dialect } from "../../call/dialect.ts";
import { endpointPaths } from "../../call/endpoint.ts";
import type { ReceiptAttempt } from "../../ledger/attempt.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { replyStatus } from "../../ledger/reply-status.ts";
import { type Attributes, type KeyValue, toKeyValues, toUnixNano } from "../otlp/values.ts";
import type { CallRecord, EndedCall, TracedAttempt, Unbilled } from "./call-record.ts";
import { newHexId } from "./trace-context.ts";

/** Where a provider's requests go, under the names that tracing systems know. */
export interface TracedProvider {
  /** `gen_ai.provider.name`. */
  readonly system: string;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

export type FindProvider = (name: string) => TracedProvider | undefined;

/** A span as OTLP writes it in JSON. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: 2 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events?: readonly {
    readonly name: string;
    readonly timeUnixNano: string;
    readonly attributes: readonly KeyValue[];
  }[];
  readonly status: { readonly code?: 2; readonly message?: string };
}

const server = 2;
const client = 3;
const sampled = 0x01;
/** Whether the parent is in another process is known, and it is. */
const hasIsRemote = 0x1_00;
const isRemote = 0x2_00;

const chatPaths: Readonly<Record<Dialect, string>> = {
  chat: endpointPaths.chat,
  responses: "/v1/responses",
  messages: "/v1/messages",
  completions: "/v1/completions",
};

/** The span of a request, and one for each attempt. */
export function toSpans(ended: EndedCall, find: FindProvider): readonly Span[] {
  const { record, end } = ended;
  if ("unbilled" in end) return [unbilledSpan(record, end.unbilled)];
  const { receipt } = end;
  const operation = operationOf(receipt.endpoint, receipt.dialect);
  return [
    receiptSpan(record, receipt, find),
    ...attemptSpans({ record, receipt, find, operation }),
  ];
}

function receiptSpan(record: CallRecord, receipt: Receipt, find: FindProvider): Span {
  const { model, endpoint, dialect, outcome, firstByteMs, durationMs } = receipt;
  const operation = operationOf(endpoint, dialect);
  const { startedMs } = record;
  const attributes = {
    ...requestAttributes({ endpoint, dialect, outcome }, replyStatus(receipt)),
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name":
      receipt.provider === "" ? undefined : (find(receipt.provider)?.system ?? receipt.provider),
    "gen_ai.request.model": model,
    "gen_ai.response.model": outcome === "ok" ? model : undefined,
    "gen_ai.response.finish_reasons": record.reasons.length === 0 ? undefined : record.reasons,
    "gen_ai.input.messages": record.input,
    "gen_ai.output.messages": record.output,
    ...unitAttributes(receipt),
    ...moneyAttributes(receipt),
    "svc.request_id": receipt.id,
    "svc.account_id": receipt.accountId,
    "svc.key_id": receipt.keyId,
    "svc.provider": receipt.provider === "" ? undefined : receipt.provider,
    "svc.attempts": receipt.attempts.length,
    "svc.streamed": receipt.isStreamed,
    "svc.first_byte_ms": firstByteMs,
  };
  return {
    ...rootIds(record),
    name: `${operation} ${model}`,
    kind: server,
    startTimeUnixNano: toUnixNano(startedMs),
    endTimeUnixNano: toUnixNano(startedMs + durationMs),
    attributes: toKeyValues(attributes),
    ...(firstByteMs === undefined
      ? {}
      : { events: [event("first_byte", startedMs + firstByteMs)] }),
    status: statusOf(outcome),
  };
}

function unitAttributes({ units, reasoningTokens, estimated }: Receipt): Attributes {
  const { input, cached_input: cached, cache_write: written, output, audio_output: audio } = units;
  const all = (...parts: readonly (number | undefined)[]) =>
    parts.every((part) => part === undefined)
      ? undefined
      : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
  return {
    // The conventions count cached tokens and reasoning within these two.
    "gen_ai.usage.input_tokens": all(input, cached, written),
    "gen_ai.usage.output_tokens": all(output, audio),
    "gen_ai.usage.cache_read.input_tokens": cached,
    "gen_ai.usage.cache_creation.input_tokens": written,
    "gen_ai.usage.reasoning.output_tokens": reasoningTokens > 0 ? reasoningTokens : undefined,
    "svc.usage.estimated": estimated,
    "svc.usage.audio_output_tokens": audio,
    "svc.usage.images": units.image,
    "svc.usage.video_seconds": units.video_second,
    "svc.usage.audio_seconds": units.audio_second,
  };
}

/** Exact: whole nano-USD, and the charge as decimal text beside it. */
function moneyAttributes({ cost, charged, hold, vendorCost }: Receipt): Attributes {
  return {
    "svc.cost.nano_usd": cost,
    "svc.charged.nano_usd": charged,
    "svc.charged.usd": toUsd(charged),
    "svc.hold.nano_usd": hold,
    "svc.vendor_cost.nano_usd": vendorCost,
  };
}

function unbilledSpan(record: CallRecord, unbilled: Unbilled): Span {
  const { endpoint, dialect, model, outcome, status, endMs } = unbilled;
  const operation = operationOf(endpoint, dialect);
  const isModelCall = Object.hasOwn(endpointPaths, endpoint);
  const attributes = {
    ...requestAttributes({ endpoint, dialect, outcome }, status),
    "gen_ai.operation.name": isModelCall ? operation : undefined,
    "gen_ai.request.model": model,
    "svc.request_id": unbilled.requestId,
    "svc.original_request_id": unbilled.replayOf,
    "svc.account_id": unbilled.accountId,
    "svc.key_id": unbilled.keyId,
  };
  return {
    ...rootIds(record),
    name: model === undefined ? operation : `${operation} ${model}`,
    kind: server,
    startTimeUnixNano: toUnixNano(record.startedMs),
    endTimeUnixNano: toUnixNano(Math.max(endMs, record.startedMs)),
    attributes: toKeyValues(attributes),
    status: statusOf(outcome),
  };
}

function rootIds({ traceId, spanId, parent }: CallRecord) {
  const ids = { traceId, spanId, flags: sampled | hasIsRemote | (parent ? isRemote : 0) };
  if (parent === undefined) return ids;
  const { spanId: parentSpanId, state } = parent;
  return { ...ids, parentSpanId, ...(state === undefined ? {} : { traceState: state }) };
}

interface Requested {
  readonly endpoint: string;
  readonly dialect: Dialect | undefined;
  readonly outcome: string;
}

function requestAttributes(
  { endpoint, dialect, outcome }: Requested,
  status: number | undefined,
): Attributes {
  return {
    "http.route": routeOf(endpoint, dialect),
    "http.response.status_code": status,
    "error.type": isFine(outcome) ? undefined : outcome,
    "svc.endpoint": endpoint === "" ? undefined : endpoint,
    "svc.dialect": dialect,
    "svc.outcome": outcome,
  };
}

const isFine = (outcome: string) => outcome === "ok" || outcome === "replayed";

function routeOf(endpoint: string, dialect: Dialect | undefined): string | undefined {
  if (dialect !== undefined) return chatPaths[dialect];
  return Object.entries(endpointPaths).find(([name]) => name === endpoint)?.[1];
}

/** The conventions have names for these; speech and transcription are our own words. */
function operationOf(endpoint: string, dialect: Dialect | undefined): string {
  if (endpoint === "chat") return dialect === "completions" ? "text_completion" : "chat";
  return endpoint === "" ? "request" : endpoint;
}

/** Of a server's span, a mistake of the caller is no error. */
function statusOf(outcome: string): Span["status"] {
  if (!isCode(outcome) || faultOf(outcome) === "caller") return {};
  return { code: 2, message: outcome };
}

const isCode = (outcome: string): outcome is ErrorCode => Object.hasOwn(errorKinds, outcome);

const event = (name: string, ms: number) => ({
  name,
  timeUnixNano: toUnixNano(ms),
  attributes: [],
});

function attemptSpans(call: {
  readonly record: CallRecord;
  readonly receipt: Receipt;
  readonly find: FindProvider;
  readonly operation: string;
}): readonly Span[] {
  const { record, receipt, find, operation } = call;
  const begun = [...record.attempts];
  // Without a provider: the reason why nobody was asked.
  return receipt.attempts
    .filter(({ provider }) => provider !== "")
    .map((attempt, at) => {
      // One that cannot do what was asked for is listed, and was never sent anything.
      const traced = begun[0]?.provider === attempt.provider ? begun.shift() : undefined;
      const provider = find(attempt.provider);
      return attemptSpan({ record, attempt, traced, provider, operation, number: at + 1 });
    });
}

function attemptSpan(one: {
  readonly record: CallRecord;
  readonly attempt: ReceiptAttempt;
  readonly traced: TracedAttempt | undefined;
  readonly provider: TracedProvider | undefined;
  readonly operation: string;
  readonly number: number;
}): Span {
  const { record, attempt, traced, provider, operation, number } = one;
  const startMs = record.startedMs + (attempt.startedMs ?? 0);
  const endMs = startMs + (attempt.durationMs ?? 0);
  const { code } = attempt;
  const acceptedMs = traced?.acceptedMs;
  const attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": provider?.system ?? attempt.provider,
    "gen_ai.request.model": attempt.model,
    "server.address": provider?.address,
    "server.port": provider?.port,
    "error.type": code,
    "http.response.status_code": attempt.status,
    "svc.provider": attempt.provider,
    "svc.provider_key": attempt.key,
    "svc.attempt": number,
  };
  return {
    traceId: record.traceId,
    spanId: traced?.spanId ?? newHexId(16),
    parentSpanId: record.spanId,
    flags: sampled | hasIsRemote,
    name: `${operation} ${attempt.model}`,
    kind: client,
    startTimeUnixNano: toUnixNano(startMs),
    endTimeUnixNano: toUnixNano(endMs),
    attributes: toKeyValues(attributes),
    ...(acceptedMs === undefined
      ? {}
      : { events: [event("response_head", Math.min(Math.max(acceptedMs, startMs), endMs))] }),
    status: code === undefined ? {} : { code: 2, message: code },
  };
}
