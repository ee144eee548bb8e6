import { nextTurn } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { type Signal, type TraceHeaders, toAbortSignal } from "../../call/signal.ts";
import type { Probe } from "../contract.ts";
import type { Dialer, Dialled, Pin } from "./dial.ts";
import { placeName, toApiFailure, upstreamError } from "./failure.ts";
import { ConnectionError, type Message, notHttp1 } from "./http1/connection.ts";
import type { Pool } from "./http1/pool.ts";
import { FetchReply, readStart, toResponse, type UpstreamReply, unpacked } from "./reply.ts";

export interface UpstreamRequest {
  readonly provider: string;
  readonly pin: Pin;
  /** Behind the origin: path and query. */
  readonly path: string;
  /** `host` is among them: the pin's. One `Headers` for all calls is cheaper than any other form. */
  readonly headers: Headers | Readonly<Record<string, string>>;
  /** Posted; without one it is a GET. */
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: Signal;
  /** A unix socket, in place of the address's host and port. */
  readonly socket?: string | undefined;
  /** The upstream is our own: what it says of a request is told to the caller as it stands. */
  readonly isOwn?: boolean;
  readonly onAccepted?: () => void;
  /** Told the status when it is no 2xx, before that becomes an error. */
  readonly onRefused?: (status: number) => void;
  readonly onDial?: ((probe: Probe) => void) | undefined;
}

const maxErrorBytes = 64 * 1024;
const errorBodyMs = 2_000;

/** What all requests to a vendor carry. */
export function baseHeaders(pin: Pin): Readonly<Record<string, string>> {
  return {
    host: pin.host,
    "content-type": "application/json",
    "user-agent": "svc-gateway",
    accept: "*/*",
    // Packed replies are unpacked by us, piece by piece, if they come all the same.
    "accept-encoding": "identity",
  };
}

/** From here on others have the event loop between making a body and writing it. */
const longBodyChars = 1024 * 1024;

/** Sends JSON; a status other than 2xx, a redirect included, becomes an ApiError. */
export function send(options: UpstreamRequest): Promise<UpstreamReply> {
  const { body } = options;
  const isLong = typeof body === "string" && body.length > longBodyChars;
  return isLong ? sendLong(options, body) : dialAndSend(options);
}

async function sendLong(options: UpstreamRequest, body: string): Promise<UpstreamReply> {
  await nextTurn();
  // The runtime joins a text that was put together when it is first read, which takes as long again.
  Buffer.byteLength(body);
  await nextTurn();
  return dialAndSend(options);
}

function dialAndSend(options: UpstreamRequest): Promise<UpstreamReply> {
  const { pin, socket } = options;
  if (socket !== undefined) return sendTo(options, { ...pin.named, pool: pin.socketPool(socket) });
  const dialled = pin.dial();
  options.onDial?.(pin.probe);
  return dialled instanceof Promise
    ? dialled.then((found) => sendTo(options, found))
    : sendTo(options, dialled);
}

function sendTo(
  options: UpstreamRequest,
  dialled: Dialled,
  { tries = 1, switches = 0 }: { tries?: number; switches?: number } = {},
): Promise<UpstreamReply> {
  const { signal } = options;
  if (signal.aborted) return Promise.reject(signal.reason);
  const { pool } = dialled;
  const replied = pool === undefined ? fetchFrom(options, dialled) : sendOn(pool, options);
  return replied.then(
    (reply) => {
      if (reply.status < 200 || reply.status > 299) return refused(options, reply);
      options.onAccepted?.();
      return unpacked(reply);
    },
    (cause: unknown) => {
      const other = otherProtocol(cause, dialled);
      const again = other && options.pin.speak(other.protocol);
      // There and back: a refusal may have been forged.
      if (again !== undefined && other?.isUnsent === true && switches < 2 && !signal.aborted)
        return sendTo(options, again, { tries, switches: switches + 1 });
      const isElsewhere = isUnconnected(cause) && !signal.aborted && tries < options.pin.count;
      if (isElsewhere)
        return sendTo(options, options.pin.next(dialled), { tries: tries + 1, switches });
      throw toNetworkError({ provider: options.provider, signal, cause });
    },
  );
}

function sendOn(pool: Pool, options: UpstreamRequest): Promise<UpstreamReply> {
  try {
    return pool.send(toMessage(options));
  } catch (cause) {
    return Promise.reject(cause);
  }
}

const headLines = new WeakMap<UpstreamRequest["headers"], string>();
/** What a URL parser leaves as it is: no fragment, no `..` and nothing to escape. */
const plainPath = /^(?!.*\/(?:\.|%2e))\/[!$-&(-;=?-[\]_a-z~]*$/i;

function toMessage(options: UpstreamRequest): Message {
  const { path, headers, body, signal, pin } = options;
  let lines = headLines.get(headers);
  if (lines === undefined) {
    lines = toLines(headers, options.provider);
    headLines.set(headers, lines);
  }
  const target = plainPath.test(path) ? path : escaped(pin, path);
  const trace = signal.trace === undefined ? "" : toLines({ ...signal.trace }, options.provider);
  const head = `${body === undefined ? "GET" : "POST"} ${target} HTTP/1.1\r\n${lines}${trace}`;
  return { head, body, signal };
}

/** Names and values that cannot end their line, whoever wrote them. */
const nameForm = /^[!#-'*+\-.0-9A-Z^-z|~]+$/;
const valueForm = /^[\t -~]*$/;

function toLines(headers: UpstreamRequest["headers"], provider: string): string {
  const entries = headers instanceof Headers ? headers.entries() : Object.entries(headers);
  let lines = "";
  for (const [name, value] of entries) {
    if (!nameForm.test(name) || !valueForm.test(value))
      throw upstreamError("upstream_unavailable", {
        detail: `${provider}: the header ${name} has characters that HTTP does not allow`,
      });
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

function escaped(pin: Pin, path: string): string {
  const { pathname, search } = new URL(pin.named.origin + path);
  return pathname + search;
}

/** The runtime's client, for what ours does not do: proxies, certificates of bare addresses, HTTP/2. */
function fetchFrom(options: UpstreamRequest, dialled: Dialled): Promise<UpstreamReply> {
  const { origin } = dialled;
  const { path, headers: plain, body, signal: given } = options;
  const headers = given.trace === undefined ? plain : withTrace(plain, given.trace);
  const method = body === undefined ? "GET" : "POST";
  const signal = toAbortSignal(given);
  const init = { method, headers, body, signal, ...fetchOptions(dialled) };
  return fetch(origin + path, init as RequestInit).then((response) => new FetchReply(response));
}

function withTrace(headers: UpstreamRequest["headers"], trace: TraceHeaders): Headers {
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(trace)) all.set(name, value);
  return all;
}

/** Without a time limit of the runtime's: calls have their own. */
function fetchOptions({ tls, protocol, proxy, keepalive }: Dialled) {
  return {
    redirect,
    decompress: false,
    timeout: false,
    ...(tls === undefined ? {} : { tls }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(keepalive === undefined ? {} : { keepalive }),
  };
}

const redirect = "manual" as const;

interface OtherProtocol {
  readonly protocol: "http1" | "http2";
  /** Surely nothing was sent: the request may go out again. */
  readonly isUnsent: boolean;
}

/** The server seems to speak only the other version of HTTP. */
function otherProtocol(cause: unknown, { protocol }: Dialled): OtherProtocol | undefined {
  if (cause instanceof ConnectionError)
    return cause.code === notHttp1 ? { protocol: "http2", isUnsent: cause.isUnsent } : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  // The runtime's code of a handshake that failed may also be that of a connection that broke later.
  const isRefused = code === "EPROTO" || code === "HTTP2Unsupported";
  if (protocol !== "http2" || !isRefused) return undefined;
  return { protocol: "http1", isUnsent: code === "HTTP2Unsupported" };
}

/** Nothing was sent: another address of the same name may be tried. */
function isUnconnected(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return /^(ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/.test(
    code,
  );
}

/** A `fetch` for packages that bring their own requests: pinned, unpacked, and never redirected. */
export function createFetch(dialer: Dialer): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const { pathname, search } = new URL(url);
    const pin = dialer.pin(url);
    const headers = new Headers(init.headers);
    headers.set("host", pin.host);
    headers.set("accept-encoding", "identity");
    let dialled = await pin.dial();
    for (let tries = 1; ; tries++) {
      const pinned = { ...init, headers, ...fetchOptions(dialled) };
      try {
        const url = `${dialled.origin}${pathname}${search}`;
        const response = await fetch(url, pinned as RequestInit);
        return toResponse(unpacked(new FetchReply(response)));
      } catch (cause) {
        if (!isUnconnected(cause) || tries >= pin.count) throw cause;
        dialled = pin.next(dialled);
      }
    }
  };
}

async function refused(options: UpstreamRequest, reply: UpstreamReply): Promise<never> {
  options.onRefused?.(reply.status);
  const { provider, signal, isOwn = false } = options;
  // The status says most of it: a body that does not come is not waited for.
  const limits = { maxBytes: maxErrorBytes, withinMs: errorBodyMs };
  const text = await readStart(unpacked(reply), limits).catch(() => "");
  if (signal.aborted) throw signal.reason;
  const { status, headers } = reply;
  throw toApiFailure({ provider, status, headers, body: text, isOwn });
}

const networkWords: Readonly<Record<string, string>> = {
  ECONNRESET: "connection reset (ECONNRESET)",
  ConnectionClosed: "connection closed (ConnectionClosed)",
  ConnectionRefused: "connection refused (ConnectionRefused)",
  ECONNREFUSED: "connection refused (ECONNREFUSED)",
  FailedToOpenSocket: "cannot connect (FailedToOpenSocket)",
  MalformedReply: "the reply is not valid HTTP (MalformedReply)",
};

/** Whatever broke the connection: the caller's leaving and our own time limits keep their reason. */
export function toNetworkError(options: {
  readonly provider: string;
  readonly signal: Signal;
  readonly cause: unknown;
  readonly isSignIn?: boolean;
}): unknown {
  const { provider, signal, cause, isSignIn } = options;
  if (signal.aborted) return signal.reason;
  if (cause instanceof ApiError) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  // The runtime's messages are for programmers; its codes are enough.
  const words = networkWords[code] ?? (code === "" ? String(cause).slice(0, 200) : code);
  return upstreamError("upstream_error", {
    detail: `${placeName(provider, isSignIn)}: ${words}`,
    reason: "unreachable",
    isSignIn,
    cause,
  });
}

/** A body that is nested too deeply to serialize again is the caller's mistake. */
export function toBody(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ApiError({
      code: "invalid_request",
      message: "The request is nested too deeply. Flatten it.",
      cause,
    });
  }
}
