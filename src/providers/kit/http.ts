import { ApiError } from "../../base/errors.ts";
import { toApiFailure, upstreamError } from "./failure.ts";

export interface UpstreamPost {
  readonly provider: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  /** A unix socket, in place of the address's host and port. */
  readonly socket?: string | undefined;
  /** The upstream is our own: what it says of a request is told to the caller as it stands. */
  readonly isOwn?: boolean;
  readonly onAccepted: () => void;
}

const maxErrorBytes = 64 * 1024;
const maxReplyBytes = 64 * 1024 * 1024;

/** Posts JSON; a status other than 2xx, a redirect included, becomes an ApiError. */
export function post(options: UpstreamPost): Promise<Response> {
  const { provider, url, headers, body, signal, socket, isOwn = false, onAccepted } = options;
  const plain = { method: "POST", headers, body, signal, redirect: "manual" } as const;
  return fetch(url, socket === undefined ? plain : { ...plain, unix: socket }).then(
    (response) => {
      if (!response.ok) return refused({ provider, response, signal, isOwn });
      onAccepted();
      return response;
    },
    (cause: unknown) => {
      throw toNetworkError({ provider, signal, cause });
    },
  );
}

async function refused(options: {
  readonly provider: string;
  readonly response: Response;
  readonly signal: AbortSignal;
  readonly isOwn: boolean;
}): Promise<never> {
  const { provider, response, signal, isOwn } = options;
  const text = await readStart(response).catch(() => "");
  if (signal.aborted) throw signal.reason;
  const { status, headers } = response;
  throw toApiFailure({ provider, status, headers, body: text, isOwn });
}

/** Whatever broke the connection: the caller's leaving and our own time limits keep their reason. */
export function toNetworkError(options: {
  readonly provider: string;
  readonly signal: AbortSignal;
  readonly cause: unknown;
}): unknown {
  const { provider, signal, cause } = options;
  if (signal.aborted) return signal.reason;
  if (cause instanceof ApiError) return cause;
  return upstreamError("upstream_error", { detail: `${provider}: ${String(cause)}`, cause });
}

/** Bodies nested so deeply that they cannot be written back are the caller's to mend. */
export function toBody(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ApiError({
      code: "invalid_request",
      message: "The request is nested too deeply.",
      cause,
    });
  }
}

/** A reply as JSON, read only as far as it may go, whatever its headers promise. */
export function readReply(response: Response): Promise<unknown> {
  const { headers } = response;
  const length = headers.get("content-length");
  // The runtime's own reader is quicker, where the size is known and not that of packed bytes.
  if (
    length !== null &&
    Number(length) <= maxReplyBytes &&
    headers.get("content-encoding") === null
  )
    return response.json();
  return readBytes(response, maxReplyBytes).then(({ bytes, isWhole }) => {
    if (!isWhole) throw new RangeError(`it is larger than ${maxReplyBytes} bytes`);
    return JSON.parse(bytes.toString("utf8"));
  });
}

async function readStart(response: Response): Promise<string> {
  const { bytes } = await readBytes(response, maxErrorBytes);
  return bytes.toString("utf8");
}

async function readBytes(
  response: Response,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  // Leaving the loop early cancels the body.
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > maxBytes) break;
  }
  const isWhole = sizeBytes <= maxBytes;
  return { bytes: Buffer.concat(pieces).subarray(0, maxBytes), isWhole };
}
