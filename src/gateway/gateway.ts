import type { Server } from "bun";
import type { Clock } from "../base/clock.ts";
import { ApiError, toApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { JsonObject } from "../call/chat.ts";
import type { Endpoint } from "../call/endpoint.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Model } from "../catalog/model.ts";
import type { KeyDirectory, KeyRecord } from "../keys/directory.ts";
import type { Router } from "../router/router.ts";
import { type ActiveCall, type ActiveCalls, callerLeft } from "./active-calls.ts";
import { authenticate, checkModel, findModel, readBody } from "./admission.ts";
import { Exchange } from "./exchange.ts";

export type BunServer = Server<unknown>;

/** After so long without a byte the runtime closes a connection, unless a call is under way. */
export const idleTimeoutS = 30;

export interface GatewayParts {
  readonly keys: KeyDirectory;
  readonly catalog: Catalog;
  readonly router: Router;
  readonly calls: ActiveCalls;
  readonly clock: Clock;
  readonly log: Log;
  readonly origins: ReadonlySet<string>;
  readonly publicUrl: () => string;
}

/** A request that has passed key, body and model; what is left is the endpoint's own. */
export interface ModelCall {
  readonly parts: GatewayParts;
  readonly exchange: Exchange;
  readonly body: JsonObject;
  readonly model: Model;
  readonly call: ActiveCall;
  /** Called exactly once, when the last byte has gone or never will. */
  readonly end: (error?: ApiError) => void;
}

export type Work = (exchange: Exchange, server: BunServer) => Promise<Response> | Response;

/** Every reply leaves through here: whatever is thrown becomes an error of the one shape. */
export async function respond(
  parts: GatewayParts,
  request: Request,
  server: BunServer,
  work: Work,
): Promise<Response> {
  const exchange = new Exchange(request, parts.clock.nowMs(), parts);
  try {
    return await work(exchange, server);
  } catch (thrown) {
    const error = toApiError(thrown);
    logFailure(parts.log, exchange, error);
    return exchange.fail(error);
  }
}

/** The way of every model call: key, size and type, JSON, model; then the endpoint takes over. */
export function modelEndpoint(
  parts: GatewayParts,
  endpoint: Endpoint,
  serve: (call: ModelCall) => Promise<Response>,
): Work {
  const { keys, catalog, calls, log } = parts;
  return async (exchange, server) => {
    const { request, startedMs: nowMs } = exchange;
    const key: KeyRecord = authenticate(request, keys, nowMs);
    const body = await readBody(request);
    const model = findModel({ body, key, endpoint, catalog });
    exchange.model = model;
    checkModel({ model, catalog, endpoint, nowMs });
    const call = calls.begin();
    // The runtime would cut a connection on which a thinking model is silent: from here on our own
    // limits rule. Most calls are over before that is worth a call into the runtime.
    call.onLong = () => server.timeout(request, 0);
    const onLeave = () => call.abort(callerLeft("the caller closed the connection"));
    request.signal.addEventListener("abort", onLeave);
    const end = (error?: ApiError) => {
      request.signal.removeEventListener("abort", onLeave);
      // What is left to send is the runtime's again: a reader who does not take it is cut off.
      if (call.isLong) server.timeout(request, idleTimeoutS);
      calls.end(call);
      if (error !== undefined) logFailure(log, exchange, error);
    };
    try {
      return await serve({ parts, exchange, body, model, call, end });
    } catch (error) {
      end();
      throw error;
    }
  };
}

export function notProvided(model: Model): ApiError {
  return new ApiError({
    code: "upstream_unavailable",
    message: "The model cannot be reached at present. The operator finds the reason in the log.",
    detail: `a provider of ${model.id} does not serve ${model.endpoint}`,
  });
}

/** Failures of ours and of upstreams, one line each; never a prompt, a reply or a key. */
function logFailure(log: Log, { requestId, model, startedMs }: Exchange, error: ApiError): void {
  const fields = {
    request_id: requestId,
    code: error.code,
    status: error.status,
    model: model?.id,
    after_ms: Date.now() - startedMs,
    detail: error.detail,
  };
  if (error.message === "The caller has left." || error.status < 500)
    log.debug("request refused", fields);
  else if (error.code === "internal_error") log.error("request failed", fields);
  else log.warn("request failed", fields);
}
