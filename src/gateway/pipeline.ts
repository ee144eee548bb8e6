import { toApiError } from "../base/errors.ts";
import type { Dialect } from "../call/dialect.ts";
import type { Endpoint } from "../call/endpoint.ts";
import type { KeyRecord } from "../keys/directory.ts";
import type { Purse } from "../ledger/purses.ts";
import { callerLeft, shuttingDown } from "./active-calls.ts";
import { checkStanding } from "./billing/billing.ts";
import { storeUnavailable } from "./billing/refusals.ts";
import type { GatewayDependencies } from "./dependencies.ts";
import { Exchange } from "./exchange.ts";
import { noteFailure } from "./failures.ts";
import { OpenClaim } from "./idempotency.ts";
import { authenticate, bearerOf, invalidKey, unpaused } from "./request/authenticate.ts";
import { announcedBytes, type BodyForm, type ParseBody, readBody } from "./request/read-body.ts";
import { readUpload } from "./request/read-upload.ts";
import { type BunServer, ServedCall, type ServedCallOptions } from "./served-call.ts";

export type Work = (exchange: Exchange, server: BunServer) => Promise<Response> | Response;

/** Every reply leaves through here: whatever is thrown becomes an error of the one shape. */
export function respond(
  dependencies: GatewayDependencies,
  request: Request,
  server: BunServer,
  work: Work,
): Promise<Response> | Response {
  const exchange = new Exchange(request, dependencies.clock.nowMs(), dependencies);
  const fail = (thrown: unknown) => {
    const error = toApiError(thrown);
    noteFailure(dependencies, exchange, error);
    exchange.leave();
    return exchange.fail(error);
  };
  const { gate } = dependencies;
  // Others may have revoked its key: whoever has not heard of them for a while hears first.
  if (gate !== undefined && !gate.isFresh())
    return gate
      .refresh()
      .catch((cause: unknown) => {
        throw storeUnavailable(cause);
      })
      .then(() => work(exchange, server))
      .catch(fail);
  try {
    const response = work(exchange, server);
    return response instanceof Promise ? response.catch(fail) : response;
  } catch (thrown) {
    return fail(thrown);
  }
}

/** What a path serves: models of one kind, and for those of chats the dialect that is spoken there. */
export interface Surface {
  readonly endpoint: Endpoint;
  readonly dialect?: Dialect | undefined;
  /** How the body comes; JSON by default. */
  readonly form?: BodyForm;
  /** Parses the JSON of a body; the runtime's parser by default. */
  readonly parse?: ParseBody;
  /** Where a dialect has several paths: an Idempotency-Key of one must not replay another's reply. */
  readonly claimScope?: string;
}

type Serve = (call: ServedCall) => Promise<Response>;

/**
 * The steps of every model call: key, standing and limits, size and type, JSON, model; then the
 * endpoint takes over. Checks that depend on the size of the body come after those that do not.
 */
export function modelEndpoint(
  dependencies: GatewayDependencies,
  { endpoint, dialect, form = "json", claimScope = dialect ?? endpoint, parse }: Surface,
  serve: Serve,
): Work {
  const { keys, billing, bodies, clock } = dependencies;
  const afterEntry = (entry: Entry, purse: Purse) => {
    const { exchange, server, key } = entry;
    const { request } = exchange;
    const sizeBytes = announcedBytes(request, form);
    const owner = { keyId: key.id, accountId: key.accountId };
    const held = bodies.open(owner, sizeBytes ?? 0);
    exchange.heldBody = held;
    const header = request.headers.get("idempotency-key");
    const hashKey = header === null ? undefined : bearerOf(request);
    const reading = { request, held, hashKey, parse };
    const read = form === "json" ? readBody(reading, sizeBytes) : readUpload(reading);
    return read.then((body) => {
      // Reading a body may have taken long: the key's present state counts.
      const current = keys.current(key, clock.nowMs());
      if (current === undefined) throw invalidKey(exchange);
      exchange.key = unpaused(current);
      const caller = { exchange, server, key: current, purse, body };
      const options = { dependencies, endpoint, caller, claim: undefined };
      return header === null
        ? new ServedCall(options).run(serve)
        : serveOnce(options, { header, claimScope, serve });
    });
  };
  return (exchange, server) => {
    exchange.endpoint = endpoint;
    exchange.dialect = dialect;
    const entry = { exchange, server, key: authenticate(exchange, keys) };
    const purse = billing.enter(exchange, entry.key);
    return purse instanceof Promise
      ? purse.then((entered) => afterEntry(entry, entered))
      : afterEntry(entry, purse);
  };
}

/** A request whose key is known. */
interface Entry {
  readonly exchange: Exchange;
  readonly server: BunServer;
  readonly key: KeyRecord;
}

interface OnceOptions {
  readonly header: string;
  readonly claimScope: string;
  readonly serve: Serve;
}

/** A request that is served once, however often it is sent. */
async function serveOnce(
  options: ServedCallOptions,
  { header, claimScope, serve }: OnceOptions,
): Promise<Response> {
  const { dependencies, caller } = options;
  const { exchange, body, purse } = caller;
  checkStanding(purse);
  // Nothing is known of a claim while it cannot be written.
  if (dependencies.journal.isFailing) throw storeUnavailable();
  const claim = await dependencies.idempotency.open({
    secret: bearerOf(exchange.request),
    claimKey: dependencies.keys.claimKey(caller.key.id),
    accountId: purse.account.id,
    header,
    path: claimScope,
    body: body.fields,
    bytesHash: body.hash,
    requestId: exchange.requestId,
    nowMs: exchange.startedMs,
  });
  if (!(claim instanceof OpenClaim)) {
    dependencies.replyCounter.count(exchange, "replayed");
    exchange.trace?.endWithout(exchange, {
      outcome: "replayed",
      status: 200,
      nowMs: dependencies.clock.nowMs(),
      replayOf: claim.requestId,
    });
    exchange.leave();
    return exchange.replay(claim);
  }
  const key = checkAgain(options, claim);
  return new ServedCall({ ...options, caller: { ...caller, key }, claim }).run(serve);
}

/** It may have waited for the request before it: what has happened meanwhile counts. */
function checkAgain(
  { dependencies, caller: { exchange, key } }: ServedCallOptions,
  claim: OpenClaim,
): KeyRecord {
  const current = dependencies.keys.current(key, dependencies.clock.nowMs());
  const isLeft = exchange.request.signal.aborted;
  const isUsable = current !== undefined && current.pausedAtMs === undefined;
  if (!isLeft && !dependencies.calls.isDraining && isUsable) return current;
  claim.close();
  if (isLeft) throw callerLeft("the caller closed the connection");
  if (current === undefined) throw invalidKey(exchange);
  unpaused(current);
  throw shuttingDown();
}
