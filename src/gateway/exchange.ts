import type { Clock } from "../base/clock.ts";
import type { ApiError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { requestPath } from "../base/network/address.ts";
import type { Dialect } from "../call/dialect.ts";
import type { Endpoint } from "../call/endpoint.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Deprecation } from "../catalog/lifecycle.ts";
import type { Model } from "../catalog/model.ts";
import type { KeyRecord } from "../keys/directory.ts";
import type { Purse } from "../ledger/purses.ts";
import type { Permit } from "../limits/permit.ts";
import {
  formatReset,
  type LimitState,
  type RateState,
  type RequestLimiter,
} from "../limits/request-limiter.ts";
import type { RejectionReason } from "../rejections/rejection.ts";
import { setRetryHeaders, toErrorBody } from "../wire/v1/error-reply.ts";
import { messagesStatus, toMessagesError } from "../wire/v1/messages/error-reply.ts";
import type { CallCharge } from "./billing/charge.ts";
import type { StoredReply } from "./idempotency.ts";
import type { HeldBody } from "./request/body-bytes.ts";
import type { CallTrace, Tracing } from "./tracing.ts";

/** What replies are made with. */
export interface ExchangeDependencies {
  /** Origins whose pages may read our replies; `*`: all. */
  readonly origins: ReadonlySet<string>;
  /** Asked when needed: the port may be known only once it is bound. */
  readonly publicUrl: () => string;
  readonly catalog: Catalog;
  readonly limiter: RequestLimiter;
  readonly clock: Clock;
  readonly tracing?: Tracing | undefined;
}

const exposed = [
  "x-request-id",
  "request-id",
  "x-original-request-id",
  "x-should-retry",
  "x-svc-max-tokens",
  "idempotent-replayed",
  "retry-after",
  "retry-after-ms",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
  "deprecation",
  "sunset",
  "link",
].join(", ");

const jsonType = "application/json";
/** What clients tell a stream of events by. */
export const eventsType = "text/event-stream; charset=utf-8";

/** A plain object: on every reply, a Headers of our own would cost as much as the Response. */
type ReplyHeaders = Record<string, string>;

/** One request and the headers that its reply will carry, whatever becomes of it. */
export class Exchange {
  readonly request: Request;
  readonly requestId: string;
  readonly startedMs: number;
  /** Only where the operator has tracing on. */
  readonly trace: CallTrace | undefined;
  readonly #dependencies: ExchangeDependencies;
  /** What was asked for; "" until an endpoint has taken it. */
  endpoint: Endpoint | "models" | "responses" | "" = "";
  /** The dialect in which a chat model is called. */
  dialect: Dialect | undefined;
  /** The caller's name for a field of the call, where its dialect has another one. */
  toField: ((param: string) => string) | undefined;
  /** The money of the call, once it is admitted: from then on it will have a receipt. */
  charge: CallCharge | undefined;
  /** Known once the key may call it: its lifecycle is told on every reply from then on. */
  model: Model | undefined;
  /** The name that the caller sent, if no model answers to it. */
  askedModel: string | undefined;
  /** Why no model answers to it: for the operator, and in no reply. */
  refusedFor: RejectionReason | undefined;
  /** Known once the caller is: what is left of their limits is told on every reply from then on. */
  key: KeyRecord | undefined;
  purse: Purse | undefined;
  /** Its place among the running requests, until a charge takes it over. */
  permit: Permit | undefined;
  /** The memory that its body takes. */
  heldBody: HeldBody | undefined;
  /** The reply goes out piece by piece: who leaves, ends it. */
  isStreamed = false;
  /** Set when the answer was made shorter than it might have been, for want of money or tokens. */
  loweredCap: number | undefined;
  /** What the path has below an endpoint that takes whatever follows. */
  rest = "";

  constructor(request: Request, nowMs: number, dependencies: ExchangeDependencies) {
    this.request = request;
    this.requestId = newId("req", nowMs);
    this.startedMs = nowMs;
    this.trace = dependencies.tracing?.begin(request.headers, nowMs);
    this.#dependencies = dependencies;
  }

  /** The request is over: what it held is free for others. A second time does nothing. */
  leave(): void {
    const { limiter, clock } = this.#dependencies;
    if (this.permit !== undefined) limiter.release(this.permit, 0, clock.nowMs());
    this.permit = undefined;
    this.heldBody?.release();
  }

  /** The tightest limit of tokens per minute that the caller has. */
  get tpm(): number | undefined {
    const ofKey = this.key?.limits?.tpm;
    const ofAccount = this.purse?.account.limits?.tpm;
    if (ofKey === undefined || ofAccount === undefined) return ofKey ?? ofAccount;
    return Math.min(ofKey, ofAccount);
  }

  reply(body: BodyInit | null, contentType: string, status = 200): Response {
    const response = this.#plainReply(body, contentType, status);
    // The name of it in the Messages format, beside ours.
    if (this.dialect === "messages") response.headers.set("request-id", this.requestId);
    return response;
  }

  #plainReply(body: BodyInit | null, contentType: string, status: number): Response {
    const rates = this.#rates();
    const origin = this.request.headers.get("origin");
    const deprecation =
      this.model && this.#dependencies.catalog.deprecationOf(this.model, this.startedMs);
    const isUsual =
      status === 200 &&
      contentType === jsonType &&
      origin === null &&
      deprecation === undefined &&
      this.loweredCap === undefined;
    const usual = isUsual ? usualHeaders(this.requestId, rates) : undefined;
    if (usual !== undefined) return new Response(body, { status, headers: usual });
    const headers: ReplyHeaders = { "content-type": contentType, "x-request-id": this.requestId };
    if (deprecation !== undefined) this.#addLifecycle(headers, deprecation);
    if (this.loweredCap !== undefined) headers["x-svc-max-tokens"] = String(this.loweredCap);
    if (rates?.requests !== undefined) addRate(headers, "requests", rates.requests);
    if (rates?.tokens !== undefined) addRate(headers, "tokens", rates.tokens);
    this.#addCors(headers, origin);
    return new Response(body, { status, headers });
  }

  /** Events go out as they come: proxies that would collect them are told not to. */
  events(stream: ReadableStream<Uint8Array>): Response {
    const response = this.reply(stream, eventsType);
    response.headers.set("cache-control", "no-cache");
    response.headers.set("x-accel-buffering", "no");
    return response;
  }

  json(text: string): Response {
    return this.reply(text, jsonType);
  }

  /** The reply of an earlier request, given again. */
  replay({ body, contentType, requestId }: StoredReply): Response {
    const response = this.reply(body, contentType);
    response.headers.set("idempotent-replayed", "true");
    response.headers.set("x-original-request-id", requestId);
    return response;
  }

  fail(error: ApiError): Response {
    const told = this.#renamed(error);
    const isMessages = this.asksInMessages;
    const body = isMessages ? toMessagesError(told, this.requestId) : toErrorBody(told);
    const status = isMessages ? messagesStatus(error) : error.status;
    const response = this.#plainReply(JSON.stringify(body), jsonType, status);
    if (isMessages) response.headers.set("request-id", this.requestId);
    setRetryHeaders(response.headers, error);
    return response;
  }

  /** Also where no endpoint has taken the request: clients read errors in their own format only. */
  get asksInMessages(): boolean {
    const { dialect, request } = this;
    if (dialect === "messages" || request.headers.has("anthropic-version")) return true;
    return dialect === undefined && /^\/v1\/+messages(\/|$)/.test(requestPath(request.url));
  }

  /** A field of the call under the name that it has in the request. */
  #renamed(error: ApiError): Pick<ApiError, "code" | "status" | "type" | "message" | "param"> {
    const { code, status, type, message, param } = error;
    const name = param === null ? undefined : this.toField?.(param);
    if (param === null || name === undefined || name === param) return error;
    const isFirst = message.startsWith(`${param} `);
    const said = isFirst ? name + message.slice(param.length) : message;
    return { code, status, type, message: said, param: name };
  }

  /** The answer to a browser that asks before it calls. */
  preflight(): Response {
    const headers: ReplyHeaders = { "x-request-id": this.requestId };
    if (this.#addCors(headers, this.request.headers.get("origin"))) {
      headers["access-control-allow-methods"] = "GET, POST, DELETE, OPTIONS";
      const asked = this.request.headers.get("access-control-request-headers");
      headers["access-control-allow-headers"] = asked ?? "authorization, content-type";
      headers["access-control-max-age"] = "600";
    }
    return new Response(null, { status: 204, headers });
  }

  #addCors(headers: ReplyHeaders, origin: string | null): boolean {
    if (origin === null) return false;
    headers["vary"] = "origin";
    const { origins } = this.#dependencies;
    if (!origins.has("*") && !origins.has(origin)) return false;
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = exposed;
    return true;
  }

  /** What is left of the caller's limits, if there are any. */
  #rates(): LimitState | undefined {
    const { key, purse } = this;
    if (key === undefined || purse === undefined) return undefined;
    const { account } = purse;
    if (key.limits === undefined && account.limits === undefined) return undefined;
    return this.#dependencies.limiter.look(
      { id: key.id, kind: "key", limits: key.limits, version: key.limitsVersion },
      {
        id: account.id,
        kind: "account",
        limits: account.limits,
        version: account.limitsVersion,
      },
      this.#dependencies.clock.nowMs(),
    );
  }

  #addLifecycle(headers: ReplyHeaders, deprecation: Deprecation): void {
    const { publicUrl } = this.#dependencies;
    const { deprecatedAtMs, retiresAtMs, replacement } = deprecation;
    headers["deprecation"] = `@${Math.floor(deprecatedAtMs / 1000)}`;
    if (retiresAtMs !== undefined) headers["sunset"] = new Date(retiresAtMs).toUTCString();
    if (replacement !== undefined)
      headers["link"] =
        `<${publicUrl()}/v1/models/${encodeURIComponent(replacement)}>; rel="successor-version"`;
  }
}

/** The headers that most replies have, changed for each. The runtime copies them into the reply. */
const plainHeaders = new Headers({ "content-type": jsonType });
const limitedHeaders = new Headers({ "content-type": jsonType });

/**
 * Undefined where a reply needs other ones. A few changes to headers that are there take half the
 * time of reading a plain object (1.5 µs instead of 2.7).
 */
function usualHeaders(requestId: string, rates: LimitState | undefined): Headers | undefined {
  if (rates === undefined) {
    plainHeaders.set("x-request-id", requestId);
    return plainHeaders;
  }
  const { requests, tokens } = rates;
  if (requests === undefined || tokens === undefined) return undefined;
  limitedHeaders.set("x-request-id", requestId);
  limitedHeaders.set("x-ratelimit-limit-requests", String(requests.limit));
  limitedHeaders.set("x-ratelimit-remaining-requests", String(requests.remaining));
  limitedHeaders.set("x-ratelimit-reset-requests", formatReset(requests.resetMs));
  limitedHeaders.set("x-ratelimit-limit-tokens", String(tokens.limit));
  limitedHeaders.set("x-ratelimit-remaining-tokens", String(tokens.remaining));
  limitedHeaders.set("x-ratelimit-reset-tokens", formatReset(tokens.resetMs));
  return limitedHeaders;
}

function addRate(headers: ReplyHeaders, what: "requests" | "tokens", rate: RateState): void {
  headers[`x-ratelimit-limit-${what}`] = String(rate.limit);
  headers[`x-ratelimit-remaining-${what}`] = String(rate.remaining);
  headers[`x-ratelimit-reset-${what}`] = formatReset(rate.resetMs);
}
