import { ApiError } from "../base/errors.ts";
import { DeliveryFailure } from "./delivery-failure.ts";

/** A request to an address that was checked: never link-local, private only where that is allowed. */
export type Call = (url: string, init: RequestInit) => Promise<Response>;

const mostBodyBytes = 16 * 1024;
const longestWaitMs = 15 * 60_000;
/** Later they may work; every other refusal stays one until an operator changes something. */
const laterStatuses = new Set([408, 425, 429]);

/** The headers of the reply, when the other side has accepted it; everything else is a `DeliveryFailure`. */
export async function send(
  call: Call,
  url: string,
  init: RequestInit & { readonly signal: AbortSignal },
  explain: (body: string) => string = () => "",
): Promise<Headers> {
  const { status, headers, body } = await answerOf(call, url, init);
  if (status >= 200 && status <= 299) return headers;
  if (status >= 300 && status <= 399)
    throw new DeliveryFailure(`it returned a redirect (${status}), which is not followed`, {
      isFinal: true,
      status,
    });
  throw new DeliveryFailure(`it returned ${status}${explain(body)}`, {
    status,
    isFinal: status < 500 && !laterStatuses.has(status),
    afterMs: waitOf(headers.get("retry-after")),
  });
}

async function answerOf(call: Call, url: string, init: RequestInit & { signal: AbortSignal }) {
  try {
    const response = await call(url, init);
    const { status, headers } = response;
    const isRefused = status < 200 || status > 299;
    const body = isRefused ? await startOf(response) : "";
    if (!isRefused) await response.body?.cancel();
    return { status, headers, body };
  } catch (cause) {
    throw new DeliveryFailure(reasonOf(cause, init.signal), { cause });
  }
}

/** Errors say what they are at their beginning. */
async function startOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= mostBodyBytes) break;
  }
  return Buffer.concat(pieces).toString("utf8", 0, mostBodyBytes);
}

function reasonOf(cause: unknown, signal: AbortSignal): string {
  if (signal.aborted && signal.reason instanceof Error && signal.reason.name === "TimeoutError")
    return "it did not answer in time";
  if (cause instanceof ApiError) return cause.detail ?? cause.message;
  // Messages of the runtime may quote the address; codes do not.
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const shown = typeof code === "string" ? code : cause instanceof Error ? cause.name : "unknown";
  return `it cannot be reached (${shown})`;
}

/** Seconds or a date. */
function waitOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestWaitMs);
}
