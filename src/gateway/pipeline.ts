import type { Server } from "bun";
import type { Clock } from "../base/clock.ts";
import { ApiError, toApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { JsonObject } from "../call/chat.ts";
import type { Endpoint } from "../call/endpoint.ts";
import type { Price } from "../call/price.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { type Model, type PriceInForce, priceAt } from "../catalog/model.ts";
import type { KeyDirectory, KeyRecord } from "../keys/directory.ts";
import type { Journal } from "../ledger/journal.ts";
import type { Need } from "../ledger/need.ts";
import type { Purse, Purses } from "../ledger/purses.ts";
import type { ReasoningUse } from "../ledger/reasoning.ts";
import type { TokenCounter } from "../ledger/token-counter.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Router } from "../router/router.ts";
import { type ActiveCall, type ActiveCalls, callerLeft, shuttingDown } from "./active-calls.ts";
import { type Charge, storeUnavailable } from "./billing/charge.ts";
import { admit, enter } from "./billing/reserve.ts";
import { checkStanding } from "./billing/standing.ts";
import { Exchange } from "./exchange.ts";
import { noteFailure, type Tally } from "./failures.ts";
import { type Idempotency, OpenClaim } from "./idempotency.ts";
import {
  authenticate,
  bearerOf,
  checkModel,
  findModel,
  invalidKey,
} from "./request/authenticate.ts";
import type { BodyBytes } from "./request/body-bytes.ts";
import { announcedBytes, type RequestBody, readBody } from "./request/read-body.ts";

export type BunServer = Server<unknown>;

/** After so long without a byte the runtime closes a connection, unless a call is under way. */
export const idleTimeoutS = 30;

export interface GatewayParts {
  readonly keys: KeyDirectory;
  readonly catalog: Catalog;
  readonly router: Router;
  readonly calls: ActiveCalls;
  readonly purses: Purses;
  readonly limiter: Limiter;
  readonly journal: Journal;
  readonly idempotency: Idempotency;
  readonly counter: TokenCounter;
  readonly reasoning: ReasoningUse;
  readonly bodies: BodyBytes;
  readonly clock: Clock;
  readonly log: Log;
  readonly tally: Tally;
  readonly origins: ReadonlySet<string>;
  readonly publicUrl: () => string;
}

/** A request that has passed key, body and model; what is left is the endpoint's own. */
export interface ModelCall {
  readonly parts: GatewayParts;
  readonly exchange: Exchange;
  readonly body: JsonObject;
  readonly model: Model;
  readonly price: Price;
  readonly call: ActiveCall;
  /**
   * Lets the call in, or throws what the caller is told; `tokens` is about what it will use. Where
   * the request is to be had once only, that is durable first: hence, perhaps, a promise.
   */
  readonly admit: (need: Need, tokens: number) => Charge | Promise<Charge>;
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
    noteFailure(parts, exchange, error);
    exchange.leave();
    return exchange.fail(error);
  }
}

/**
 * The way of every model call: key, standing and limits, size and type, JSON, model; then the
 * endpoint takes over. What depends on the size of the body comes after what does not.
 */
export function modelEndpoint(
  parts: GatewayParts,
  endpoint: Endpoint,
  serve: (call: ModelCall) => Promise<Response>,
): Work {
  const { keys, purses } = parts;
  return (exchange, server) => {
    exchange.endpoint = endpoint;
    const { request, startedMs: nowMs } = exchange;
    const key: KeyRecord = authenticate(request, keys, nowMs);
    const purse = purses.find(key.accountId);
    if (purse === undefined) throw new Error(`the account of ${key.id} is not in memory`);
    exchange.key = key;
    exchange.purse = purse;
    enter(parts, exchange, { key, purse });
    const sizeBytes = announcedBytes(request);
    const owner = { keyId: key.id, accountId: key.accountId };
    const held = parts.bodies.open(owner, sizeBytes ?? 0);
    exchange.heldBody = held;
    const header = request.headers.get("idempotency-key");
    const hashKey = header === null ? undefined : bearerOf(request);
    return readBody({ request, held, hashKey }, sizeBytes).then((body) => {
      // A body may have taken long: what became of the key meanwhile counts.
      const current = keys.current(key, parts.clock.nowMs());
      if (current === undefined) throw invalidKey();
      exchange.key = current;
      const caller = { exchange, server, key: current, purse, body };
      const serving = { parts, endpoint, serve, caller, claim: undefined };
      return header === null ? serveModel(serving) : serveOnce(serving, header);
    });
  };
}

/** A request that is made once, however often it is sent. */
async function serveOnce(serving: Serving, header: string): Promise<Response> {
  const { parts, caller } = serving;
  const { exchange, body, purse } = caller;
  checkStanding(purse);
  // Nothing is known of a claim while it cannot be written.
  if (parts.journal.isFailing) throw storeUnavailable();
  const claim = await parts.idempotency.open({
    secret: bearerOf(exchange.request),
    claimKey: parts.keys.claimKey(caller.key.id),
    accountId: purse.account.id,
    header,
    path: serving.endpoint,
    body: body.fields,
    bytesHash: body.hash,
    requestId: exchange.requestId,
    nowMs: exchange.startedMs,
  });
  if (!(claim instanceof OpenClaim)) {
    parts.tally.answered(exchange, "replayed");
    exchange.leave();
    return exchange.replay(claim);
  }
  const key = lookAgain(serving, claim);
  return serveModel({ ...serving, caller: { ...caller, key }, claim });
}

/** The request before may have been waited for: what has happened meanwhile counts. */
function lookAgain({ parts, caller: { exchange, key } }: Serving, claim: OpenClaim): KeyRecord {
  const current = parts.keys.current(key, parts.clock.nowMs());
  const isLeft = exchange.request.signal.aborted;
  if (!isLeft && !parts.calls.isDraining && current !== undefined) return current;
  claim.close();
  if (isLeft) throw callerLeft("the caller closed the connection");
  throw current === undefined ? invalidKey() : shuttingDown();
}

interface Serving {
  readonly parts: GatewayParts;
  readonly endpoint: Endpoint;
  readonly serve: (call: ModelCall) => Promise<Response>;
  readonly caller: {
    readonly exchange: Exchange;
    readonly server: BunServer;
    readonly key: KeyRecord;
    readonly purse: Purse;
    readonly body: RequestBody;
  };
  readonly claim: OpenClaim | undefined;
}

/** The model that was asked for, at the price of this moment. */
function chooseModel({ parts, endpoint, caller, claim }: Omit<Serving, "serve">): {
  readonly model: Model;
  readonly pricing: PriceInForce;
} {
  const { exchange, key, body } = caller;
  const { catalog, clock } = parts;
  try {
    const nowMs = clock.nowMs();
    const model = findModel({ body: body.fields, key, endpoint, catalog, nowMs });
    exchange.model = model;
    checkModel({ model, catalog, endpoint, nowMs });
    const pricing = priceAt(model, nowMs);
    if (pricing === undefined) throw new Error(`${model.id} has no price`);
    return { model, pricing };
  } catch (error) {
    claim?.close();
    throw error;
  }
}

/** Written without async functions, like all that every request passes: each costs a microsecond. */
function serveModel({ parts, endpoint, serve, caller, claim }: Serving): Promise<Response> {
  const { exchange, server, key, purse, body } = caller;
  const { calls } = parts;
  const { request } = exchange;
  const { model, pricing } = chooseModel({ parts, endpoint, caller, claim });
  const call = calls.begin(model, key.accountId);
  // The runtime would cut a connection on which a thinking model is silent: from here on our own
  // limits rule. Most calls are over before that is worth a call into the runtime.
  call.onLong = () => server.timeout(request, 0);
  let charge: Charge | undefined;
  // A whole reply is worked on to its end: the vendor bills it, whether or not the caller waits.
  const onLeave = () => {
    if (exchange.isStreamed) call.leave(callerLeft("the caller closed the connection"));
    else call.isLeft = true;
  };
  request.signal.addEventListener("abort", onLeave);
  if (request.signal.aborted) onLeave();
  const over = () => {
    claim?.close();
    exchange.leave();
    calls.end(call);
  };
  const close = (failure?: ApiError) => {
    request.signal.removeEventListener("abort", onLeave);
    // What is left to send is the runtime's again: a reader who does not take it is cut off.
    if (call.isLong) server.timeout(request, idleTimeoutS);
    // What a key stands for is known when the receipt is written: it may have to be taken back.
    if (charge === undefined || (charge.isSettled && claim === undefined)) return over();
    // A call that is read on may take a minute more: whoever repeats it is not kept waiting.
    if (!call.isReadingOn) claim?.ending();
    charge.close(failure).then(over, over);
  };
  const end = (error?: ApiError) => {
    if (error !== undefined) noteFailure(parts, exchange, error);
    close(error);
  };
  const admitted = { parts, exchange, key, purse, model, pricing, claim, call };
  const admitCall = (need: Need, tokens: number) => {
    const taken = admit(admitted, need, tokens);
    charge = taken;
    exchange.charge = taken;
    return claim === undefined ? taken : claim.persist().then(() => taken, notPersisted);
  };
  const fail = (error: unknown): never => {
    close(toApiError(error));
    throw error;
  };
  try {
    const { price } = pricing;
    const { fields } = body;
    const asked = { parts, exchange, body: fields, model, price, call, admit: admitCall, end };
    return serve(asked).catch(fail);
  } catch (error) {
    return fail(error);
  }
}

function notPersisted(cause: unknown): never {
  throw storeUnavailable(cause);
}

export function notProvided(model: Model): ApiError {
  return new ApiError({
    code: "upstream_unavailable",
    message: "The model cannot be reached at present. The operator finds the reason in the log.",
    detail: `a provider of ${model.id} does not serve ${model.endpoint}`,
  });
}
