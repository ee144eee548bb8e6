import { ApiError } from "../../base/errors.ts";
import { parseBoundedInTurns, smallJsonChars } from "../../base/json/bounds.ts";
import type { Probe } from "../contract.ts";
import type { Dialer, Dialled, Pin } from "./dial.ts";
import { placeName, toApiFailure, upstreamError } from "./failure.ts";

export interface UpstreamRequest {
  readonly provider: string;
  readonly pin: Pin;
  /** Behind the origin: path and query. */
  readonly path: string;
  /** `host` is among them: the pin's. One `Headers` for all calls is cheaper than any other form. */
  readonly headers: Headers | Readonly<Record<string, string>>;
  /** Posted; without one it is a GET. */
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
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
/** A hundred vectors of 3,072 numbers, one to a line, are nine million bytes; no chat is longer. */
export const maxReplyBytes = 16 * 1024 * 1024;

/** What all requests to a vendor carry. */
export function baseHeaders(pin: Pin): Readonly<Record<string, string>> {
  return {
    host: pin.host,
    "content-type": "application/json",
    "user-agent": "svc-gateway",
    // Packed replies are unpacked by us, piece by piece, if they come all the same.
    "accept-encoding": "identity",
  };
}

/** Sends JSON; a status other than 2xx, a redirect included, becomes an ApiError. */
export function send(options: UpstreamRequest): Promise<Response> {
  if (options.socket !== undefined) return sendTo(options, options.pin.named);
  const dialled = options.pin.dial();
  options.onDial?.(options.pin.probe);
  return dialled instanceof Promise
    ? dialled.then((found) => sendTo(options, found))
    : sendTo(options, dialled);
}

function sendTo(options: UpstreamRequest, dialled: Dialled, tries = 1): Promise<Response> {
  const { origin, tls } = dialled;
  const { path, headers, body, signal, socket, onAccepted } = options;
  const method = body === undefined ? "GET" : "POST";
  // Spelled out: copying properties costs a microsecond.
  const init =
    socket !== undefined
      ? { method, headers, body, signal, redirect, decompress: false, unix: socket }
      : tls !== undefined
        ? { method, headers, body, signal, redirect, decompress: false, tls }
        : { method, headers, body, signal, redirect, decompress: false };
  return fetch(origin + path, init as RequestInit).then(
    (response) => {
      if (!response.ok) return refused(options, response);
      onAccepted?.();
      return unpacked(response);
    },
    (cause: unknown) => {
      const isElsewhere = isUnconnected(cause) && !signal.aborted && tries < options.pin.count;
      if (isElsewhere) return sendTo(options, options.pin.next(dialled), tries + 1);
      throw toNetworkError({ provider: options.provider, signal, cause });
    },
  );
}

const redirect = "manual" as const;

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
      const { origin, tls } = dialled;
      const pinned = { ...init, headers, redirect, decompress: false };
      const whole = tls === undefined ? pinned : { ...pinned, tls };
      try {
        return unpacked(await fetch(`${origin}${pathname}${search}`, whole as RequestInit));
      } catch (cause) {
        if (!isUnconnected(cause) || tries >= pin.count) throw cause;
        dialled = pin.next(dialled);
      }
    }
  };
}

const packings: Readonly<Record<string, string>> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "brotli",
  zstd: "zstd",
};

/** Piece by piece, as it is read: a small reply cannot become a large one in our memory. */
function unpacked(response: Response): Response {
  const packing = response.headers.get("content-encoding");
  if (packing === null || packing === "identity" || response.body === null) return response;
  const format = packings[packing.toLowerCase()];
  if (format === undefined) return response;
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  const body = response.body.pipeThrough(new DecompressionStream(format as CompressionFormat));
  return new Response(body, { status: response.status, headers });
}

async function refused(options: UpstreamRequest, response: Response): Promise<never> {
  options.onRefused?.(response.status);
  const { provider, signal, isOwn = false } = options;
  const text = await readStart(unpacked(response)).catch(() => "");
  if (signal.aborted) throw signal.reason;
  const { status, headers } = response;
  throw toApiFailure({ provider, status, headers, body: text, isOwn });
}

const networkWords: Readonly<Record<string, string>> = {
  ECONNRESET: "connection reset (ECONNRESET)",
  ConnectionClosed: "connection closed (ConnectionClosed)",
  ConnectionRefused: "connection refused (ConnectionRefused)",
  ECONNREFUSED: "connection refused (ECONNREFUSED)",
  FailedToOpenSocket: "cannot connect (FailedToOpenSocket)",
};

/** Whatever broke the connection: the caller's leaving and our own time limits keep their reason. */
export function toNetworkError(options: {
  readonly provider: string;
  readonly signal: AbortSignal;
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

/** A reply as JSON, read only as far as it may go, whatever its headers promise. */
export function readReply(response: Response, maxBytes = maxReplyBytes): Promise<unknown> {
  const length = response.headers.get("content-length");
  // The runtime's own readers are quicker, where the size is known.
  if (length !== null && Number(length) <= smallJsonChars) return response.json();
  if (length !== null && Number(length) <= maxBytes)
    return response.text().then(parseBoundedInTurns);
  return readWhole(response, maxBytes).then((bytes) => parseBoundedInTurns(bytes.toString("utf8")));
}

/** A reply's bytes; throws a RangeError where they are more than may be. */
export async function readWhole(
  response: Response,
  maxBytes = maxReplyBytes,
): Promise<Buffer<ArrayBuffer>> {
  const { bytes, isWhole } = await readBytes(response, { maxBytes });
  if (!isWhole) throw new RangeError(`it is larger than ${maxBytes} bytes`);
  return bytes;
}

/** The same as JSON, where anything that is no JSON is the upstream's failure. */
export function readJson(
  response: Response,
  {
    provider,
    signal,
    maxBytes,
  }: {
    readonly provider: string;
    readonly signal: AbortSignal;
    readonly maxBytes?: number | undefined;
  },
): Promise<unknown> {
  return readReply(response, maxBytes).catch((cause: unknown) => {
    if (signal.aborted) throw signal.reason;
    // The parser's own words quote the reply.
    const kind = cause instanceof Error ? cause.name : typeof cause;
    const detail = `${provider} sent invalid JSON (${kind})`;
    throw upstreamError("upstream_error", { detail, symptom: "not_an_api", cause });
  });
}

/** The status says most of it: a body that does not come is not waited for, and its connection let go. */
async function readStart(response: Response): Promise<string> {
  const limits = { maxBytes: maxErrorBytes, withinMs: errorBodyMs };
  return (await readBytes(response, limits)).bytes.toString("utf8");
}

async function readBytes(
  response: Response,
  { maxBytes, withinMs }: { readonly maxBytes: number; readonly withinMs?: number },
): Promise<{ readonly bytes: Buffer<ArrayBuffer>; readonly isWhole: boolean }> {
  // One buffer that grows: a piece of its own for each byte would take a hundred times as much.
  let kept = Buffer.allocUnsafe(Math.min(maxBytes, firstBytes));
  let sizeBytes = 0;
  const reader = response.body?.getReader();
  const leave = () => reader?.cancel().catch(() => {});
  const timer = withinMs === undefined ? undefined : setTimeout(leave, withinMs);
  try {
    for (;;) {
      const read = await reader?.read();
      if (read === undefined || read.done) break;
      const { value } = read;
      if (sizeBytes + value.length > kept.length)
        kept = grown(kept, sizeBytes + value.length, maxBytes);
      kept.set(value.subarray(0, kept.length - sizeBytes), sizeBytes);
      sizeBytes += value.length;
      if (sizeBytes <= maxBytes) continue;
      leave();
      break;
    }
  } finally {
    clearTimeout(timer);
  }
  const isWhole = sizeBytes <= maxBytes;
  return { bytes: kept.subarray(0, Math.min(sizeBytes, maxBytes)), isWhole };
}

const firstBytes = 16 * 1024;

/** Twice as large, or as large as needed; never larger than may be. */
function grown(kept: Buffer, neededBytes: number, maxBytes: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(neededBytes, 2 * kept.length)));
  larger.set(kept);
  return larger;
}
