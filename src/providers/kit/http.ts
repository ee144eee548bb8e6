import { ApiError } from "../../base/errors.ts";
import { toApiFailure, upstreamError } from "./failure.ts";

export interface UpstreamPost {
  readonly provider: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

const maxErrorBytes = 64 * 1024;

/** Posts JSON; a status other than 2xx, a redirect included, becomes an ApiError. */
export function post({ provider, url, headers, body, signal }: UpstreamPost): Promise<Response> {
  return fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }).then(
    (response) => (response.ok ? response : refused({ provider, response, signal })),
    (cause: unknown) => {
      throw toNetworkError({ provider, signal, cause });
    },
  );
}

async function refused(options: {
  readonly provider: string;
  readonly response: Response;
  readonly signal: AbortSignal;
}): Promise<never> {
  const { provider, response, signal } = options;
  const text = await readStart(response).catch(() => "");
  if (signal.aborted) throw signal.reason;
  throw toApiFailure({ provider, status: response.status, headers: response.headers, body: text });
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

async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    pieces.push(value);
    sizeBytes += value.length;
    if (sizeBytes >= maxErrorBytes) {
      await reader.cancel();
      break;
    }
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, maxErrorBytes));
}
