import type { ApiError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import { setRetryHeaders, toErrorBody } from "../wire/v1/error-reply.ts";

/** What replies are made with. */
export interface ExchangeParts {
  /** Origins whose pages may read our replies; `*`: all. */
  readonly origins: ReadonlySet<string>;
  /** Asked when needed: the port may be known only once it is bound. */
  readonly publicUrl: () => string;
  readonly catalog: Catalog;
}

const exposed =
  "x-request-id, x-should-retry, retry-after, retry-after-ms, deprecation, sunset, link";

/** A plain object: on every reply, a Headers of our own would cost as much as the Response. */
type ReplyHeaders = Record<string, string>;

/** One request and the headers that its reply will carry, whatever becomes of it. */
export class Exchange {
  readonly request: Request;
  readonly requestId = newId("req");
  readonly startedMs: number;
  readonly #parts: ExchangeParts;
  /** Known once the key may call it: its lifecycle is told on every reply from then on. */
  model: Model | undefined;
  /** What the path has below an endpoint that takes whatever follows. */
  rest = "";

  constructor(request: Request, nowMs: number, parts: ExchangeParts) {
    this.request = request;
    this.startedMs = nowMs;
    this.#parts = parts;
  }

  reply(body: BodyInit | null, contentType: string, status = 200): Response {
    const headers: ReplyHeaders = { "content-type": contentType, "x-request-id": this.requestId };
    this.#addLifecycle(headers);
    this.#addCors(headers);
    return new Response(body, { status, headers });
  }

  /** Events go out as they come: proxies that would collect them are told not to. */
  events(stream: ReadableStream<Uint8Array>): Response {
    const response = this.reply(stream, "text/event-stream; charset=utf-8");
    response.headers.set("cache-control", "no-cache");
    response.headers.set("x-accel-buffering", "no");
    return response;
  }

  json(text: string): Response {
    return this.reply(text, "application/json");
  }

  fail(error: ApiError): Response {
    const response = this.reply(
      JSON.stringify(toErrorBody(error)),
      "application/json",
      error.status,
    );
    setRetryHeaders(response.headers, error);
    return response;
  }

  /** The answer to a browser that asks before it calls. */
  preflight(): Response {
    const headers: ReplyHeaders = { "x-request-id": this.requestId };
    if (this.#addCors(headers)) {
      headers["access-control-allow-methods"] = "GET, POST, OPTIONS";
      const asked = this.request.headers.get("access-control-request-headers");
      headers["access-control-allow-headers"] = asked ?? "authorization, content-type";
      headers["access-control-max-age"] = "600";
    }
    return new Response(null, { status: 204, headers });
  }

  #addCors(headers: ReplyHeaders): boolean {
    const origin = this.request.headers.get("origin");
    if (origin === null) return false;
    headers["vary"] = "origin";
    const { origins } = this.#parts;
    if (!origins.has("*") && !origins.has(origin)) return false;
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = exposed;
    return true;
  }

  #addLifecycle(headers: ReplyHeaders): void {
    const { catalog, publicUrl } = this.#parts;
    const deprecation = this.model && catalog.deprecationOf(this.model, this.startedMs);
    if (deprecation === undefined) return;
    const { deprecatedAtMs, retiresAtMs, replacement } = deprecation;
    headers["deprecation"] = `@${Math.floor(deprecatedAtMs / 1000)}`;
    if (retiresAtMs !== undefined) headers["sunset"] = new Date(retiresAtMs).toUTCString();
    if (replacement !== undefined)
      headers["link"] =
        `<${publicUrl()}/v1/models/${encodeURIComponent(replacement)}>; rel="successor-version"`;
  }
}
