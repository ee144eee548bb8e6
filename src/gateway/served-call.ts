import type { Server } from "bun";
import { type ApiError, toApiError } from "../base/errors.ts";
import type { JsonObject } from "../call/chat.ts";
import type { Endpoint } from "../call/endpoint.ts";
import type { Price } from "../call/price.ts";
import type { Model, PriceInForce } from "../catalog/model.ts";
import type { KeyRecord } from "../keys/directory.ts";
import type { Need } from "../ledger/need.ts";
import type { Purse } from "../ledger/purses.ts";
import { ClaimsLostError } from "../ledger/store.ts";
import { type ActiveCall, callerLeft } from "./active-calls.ts";
import type { ReserveOptions } from "./billing/billing.ts";
import type { CallCharge } from "./billing/charge.ts";
import { storeUnavailable } from "./billing/refusals.ts";
import type { GatewayDependencies } from "./dependencies.ts";
import type { Exchange } from "./exchange.ts";
import { noteFailure } from "./failures.ts";
import { claimedElsewhere, type OpenClaim } from "./idempotency.ts";
import { chooseModel } from "./request/find-model.ts";
import type { RequestBody, UploadedFile } from "./request/read-body.ts";

export type BunServer = Server<unknown>;

/** The runtime closes a connection after this time without a byte, unless a call is in flight. */
export const idleTimeoutS = 30;

export interface ServedCallOptions {
  readonly dependencies: GatewayDependencies;
  readonly endpoint: Endpoint;
  readonly caller: {
    readonly exchange: Exchange;
    readonly server: BunServer;
    readonly key: KeyRecord;
    readonly purse: Purse;
    readonly body: RequestBody;
  };
  readonly claim: OpenClaim | undefined;
}

/**
 * A request that has passed key, body and model, until its last byte has gone or never will:
 *
 *     run → admit → (the endpoint works) → end
 *        ↘ fail, from wherever the endpoint throws
 *     stream: from here on, a caller who disconnects ends it
 *
 * `end` and `fail` close it, exactly once. Written without async functions, like all code that every
 * request passes: each costs a microsecond.
 */
export class ServedCall implements ReserveOptions {
  readonly dependencies: GatewayDependencies;
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly purse: Purse;
  readonly body: JsonObject;
  /** Of an endpoint that takes one, where the caller sent it. */
  readonly file: UploadedFile | undefined;
  readonly model: Model;
  /** What the caller named: the model's id or an alias. Replies repeat it. */
  readonly asked: string;
  readonly pricing: PriceInForce;
  readonly claim: OpenClaim | undefined;
  readonly call: ActiveCall;
  readonly #server: BunServer;
  #charge: CallCharge | undefined;
  #isClosed = false;

  constructor({ dependencies, endpoint, caller, claim }: ServedCallOptions) {
    const { exchange, key, purse, body } = caller;
    const { catalog, clock, calls } = dependencies;
    let chosen: ReturnType<typeof chooseModel>;
    try {
      chosen = chooseModel({ exchange, body: body.fields, key, endpoint, catalog, clock });
    } catch (error) {
      claim?.close();
      throw error;
    }
    this.dependencies = dependencies;
    this.exchange = exchange;
    this.key = key;
    this.purse = purse;
    this.body = body.fields;
    this.file = body.file;
    this.model = chosen.model;
    this.asked = chosen.asked;
    this.pricing = chosen.pricing;
    this.claim = claim;
    this.call = calls.begin(chosen.model, key.accountId);
    this.#server = caller.server;
  }

  get price(): Price {
    return this.pricing.price;
  }

  /** Has the endpoint serve it. */
  run(serve: (call: ServedCall) => Promise<Response>): Promise<Response> {
    const { request } = this.exchange;
    // The runtime would cut a connection on which a thinking model is silent: from here on our own
    // limits rule. Most calls are over before that is worth a call into the runtime.
    this.call.onLong = () => this.#server.timeout(request, 0);
    this.call.caller = request;
    try {
      return serve(this).catch(this.#onFailure);
    } catch (error) {
      return this.fail(error);
    }
  }

  /**
   * The reply goes out piece by piece, and a caller who disconnects ends it. A whole reply is worked
   * on to its end, because the vendor bills it in any case: there nobody has to listen.
   */
  stream(): void {
    const { exchange } = this;
    const { signal } = exchange.request;
    exchange.isStreamed = true;
    signal.addEventListener("abort", this.#onAbort);
    if (signal.aborted) this.#onAbort();
  }

  /**
   * Admits the call or throws the refusal; `tokens` is about what it will use. A
   * promise with an Idempotency-Key, whose claim is durable first, and where limits are shared.
   */
  admit(need: Need, tokens: number): CallCharge | Promise<CallCharge> {
    const charge = this.dependencies.billing.reserve(this, need, tokens);
    return charge instanceof Promise
      ? charge.then((reserved) => this.#admitted(reserved))
      : this.#admitted(charge);
  }

  /** Throws the refusal where not even this is covered, before work that grows with the body. */
  check(least: Need): void | Promise<void> {
    return this.dependencies.billing.check(this, least);
  }

  #admitted(charge: CallCharge): CallCharge | Promise<CallCharge> {
    this.#charge = charge;
    this.exchange.charge = charge;
    return this.claim === undefined
      ? charge
      : this.claim.persist().then(() => charge, notPersisted);
  }

  /** The last byte has gone or never will. The endpoint calls it exactly once, unless it throws. */
  end(error?: ApiError): void {
    if (error !== undefined) noteFailure(this.dependencies, this.exchange, error);
    this.#close(error);
  }

  /** The endpoint has thrown before it had a reply. */
  fail(error: unknown): never {
    this.#close(toApiError(error));
    throw error;
  }

  /** Not removed at the end, which costs more than all else of a call: the request goes soon. */
  readonly #onAbort = () => {
    if (!this.#isClosed) this.call.leave(callerLeft("the caller closed the connection"));
  };
  readonly #onFailure = (error: unknown) => this.fail(error);

  #close(failure: ApiError | undefined): void {
    const { exchange, call, claim } = this;
    const charge = this.#charge;
    this.#isClosed = true;
    // What is left to send is the runtime's again: a reader who does not take it is cut off.
    if (call.isLong) this.#server.timeout(exchange.request, idleTimeoutS);
    // What a key stands for is known when the receipt is written: it may have to be rolled back.
    if (charge === undefined || (charge.isSettled && claim === undefined)) return this.#release();
    // A call that is read on may take a minute more: a repeated request does not wait for it.
    if (!call.isReadingOn) claim?.ending();
    const release = () => this.#release();
    charge.close(failure).then(release, release);
  }

  #release(): void {
    this.claim?.close();
    this.exchange.leave();
    this.dependencies.calls.end(this.call);
  }
}

function notPersisted(cause: unknown): never {
  if (cause instanceof ClaimsLostError) throw claimedElsewhere();
  throw storeUnavailable(cause);
}
