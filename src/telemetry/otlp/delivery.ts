import { promisify } from "node:util";
import { gzip } from "node:zlib";

const gzipAsync = promisify(gzip);

export interface DeliveryOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  readonly timeoutMs: number;
}

/** What the collector made of one request. */
export type Delivered =
  | { readonly kind: "taken"; readonly refused: number; readonly reason: string | undefined }
  /** It may take the same request later. */
  | (NotTaken & { readonly kind: "later"; readonly afterMs: number | undefined })
  | (NotTaken & { readonly kind: "refused" });

interface NotTaken {
  readonly reason: string;
  /** The status of the reply; undefined without a reply. */
  readonly status?: number;
  /** The runtime's error code if there was no reply. */
  readonly code?: string;
}

/** Of a reply, which says little: what is longer is not read. */
const mostReplyBytes = 64 * 1024;
const mostReasonChars = 200;
/** No collector holds telemetry back for longer than this. */
const longestWaitMs = 60_000;
/** As the OTLP specification lists them; every other failure is final. */
const laterStatuses = new Set([429, 502, 503, 504]);

/** Posts one body to the collector; never throws, and always ends within the time limit. */
export async function deliver(
  { url, headers, isCompressed, timeoutMs }: DeliveryOptions,
  body: string,
  signal?: AbortSignal,
): Promise<Delivered> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end);
  try {
    // On a thread of the runtime.
    const packed = isCompressed ? await gzipAsync(body, { level: 1 }) : body;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        ...(isCompressed ? { "content-encoding": "gzip" } : {}),
        "accept-encoding": "identity",
        "user-agent": "svc-gateway",
      },
      body: packed,
      redirect: "manual",
      decompress: false,
      signal: ended.signal,
    });
    const { status } = response;
    const isTaken = status >= 200 && status <= 299;
    if (isTaken) return taken(await readStart(response).catch(() => ""));
    const reason = `the collector returned ${status}`;
    if (!laterStatuses.has(status)) return { kind: "refused", reason, status };
    const afterMs = waitOf(response.headers.get("retry-after"));
    return { kind: "later", afterMs, reason, status };
  } catch (error) {
    if (signal?.aborted === true)
      return { kind: "refused", reason: "the process stopped before the collector answered" };
    const code = codeOf(error);
    const reason = ended.signal.aborted
      ? `the collector did not answer within ${timeoutMs / 1000} s`
      : `the collector cannot be reached: ${code}`;
    return { kind: "later", afterMs: undefined, reason, code };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    // Nothing more is read of a reply that is longer, or that is only a failure.
    end();
  }
}

/** The runtime's messages may quote the address with its path; its codes do not. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : error instanceof Error ? error.name : "unknown error";
}

async function readStart(response: Response): Promise<string> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  if (reader === undefined) return "";
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return Buffer.concat(pieces).toString();
    bytes += value.length;
    if (bytes > mostReplyBytes) return "";
    pieces.push(value);
  }
}

/** A collector can take a request and refuse a part of it. */
function taken(text: string): Delivered {
  const none = { kind: "taken", refused: 0, reason: undefined } as const;
  const partial = field(parsed(text), "partialSuccess");
  const refused = ["rejectedSpans", "rejectedDataPoints", "rejectedLogRecords"]
    .map((name) => Number(field(partial, name) ?? 0))
    .find((count) => Number.isSafeInteger(count) && count > 0);
  if (refused === undefined) return none;
  const message = field(partial, "errorMessage");
  const words = typeof message === "string" ? `: ${message.slice(0, mostReasonChars)}` : "";
  return { kind: "taken", refused, reason: `the collector refused a part${words}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Seconds or a date. */
function waitOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestWaitMs);
}
