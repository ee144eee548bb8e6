import { isTooHeavy, smallJsonChars } from "../../base/json/bounds.ts";
import { SseReader } from "../../base/network/sse.ts";
import { type Signal, type TraceHeaders, toAbortSignal } from "../../call/signal.ts";
import type { ProviderCall } from "../contract.ts";
import type { Dialer, Pin } from "../kit/dial.ts";
import { upstreamError } from "../kit/failure.ts";
import { send, toNetworkError } from "../kit/http.ts";
import { PacketReader } from "../kit/packets.ts";
import { maxReplyBytes, toResponse, type UpstreamReply } from "../kit/reply.ts";
import { WholeReply } from "./chat/whole-reply.ts";
import { toldIn } from "./failure.ts";
import { Recent } from "./recent.ts";
import type { AwsSigner } from "./sign-aws.ts";

/** Of one call: what the package's request belongs to, found by the signal that it passes on. */
export class Call {
  readonly #given: Signal;
  readonly #onAccepted: () => void;
  readonly onDial: ProviderCall<unknown>["onDial"];
  /** Packages say nothing of pings. */
  readonly onHeard: ProviderCall<unknown>["onHeard"];
  /** Of a stream: what a package has begun to read and left is let go. */
  readonly #abort: AbortController | undefined;
  /** Bytes that the package was given and has made nothing of yet, and what they hold. */
  #unreadBytes = 0;
  #unreadGroups = 0;
  #unreadFields = 0;
  #isAccepted = false;

  constructor({ signal, onAccepted, onDial, onHeard }: Calling, form: "whole" | "stream") {
    this.#given = signal;
    this.#onAccepted = onAccepted;
    this.onDial = onDial;
    this.onHeard = onHeard;
    this.#abort = form === "stream" ? new AbortController() : undefined;
    if (signal.aborted) this.#leave();
    else if (this.#abort !== undefined) signal.addEventListener("abort", this.#leave);
    calls.set(this.signal, this);
  }

  get signal(): AbortSignal {
    return this.#abort?.signal ?? toAbortSignal(this.#given);
  }

  get trace(): TraceHeaders | undefined {
    return this.#given.trace;
  }

  get isStream(): boolean {
    return this.#abort !== undefined;
  }

  readonly accept = (): void => {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    this.#onAccepted();
  };

  /** The package has made something of what it was given. */
  readOn(): void {
    this.#unreadBytes = 0;
    this.#unreadGroups = 0;
    this.#unreadFields = 0;
  }

  /** Packages parse an event without a bound: whether what waits may become too much for that. */
  isTooMuch(bytes: Uint8Array): boolean {
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes <= smallJsonChars) return false;
    this.#unreadGroups += countOf(bytes, 0x5b) + countOf(bytes, 0x7b);
    this.#unreadFields += countOf(bytes, 0x3a);
    return (
      this.#unreadBytes > maxUnreadBytes ||
      this.#unreadGroups > maxUnreadGroups ||
      this.#unreadFields > maxUnreadFields
    );
  }

  /** Lets the upstream go, whatever the package does with what it was given. */
  end(): void {
    this.finish();
    this.#abort?.abort(new Error("the call is over"));
  }

  /** The reply was read to its end: the connection can be used again. */
  finish(): void {
    if (this.#abort !== undefined) this.#given.removeEventListener("abort", this.#leave);
  }

  readonly #leave = (): void => this.#abort?.abort(this.#given.reason);
}

type Calling = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial" | "onHeard">;

const calls = new WeakMap<AbortSignal, Call>();

/**
 * Of a stream: what may wait for its meaning. A packet holds thousands of small events; one event
 * with this many brackets would hold up everybody.
 */
const maxUnreadBytes = 4 * 1024 * 1024;
const maxUnreadGroups = 20_000;
const maxUnreadFields = 100_000;

function countOf(bytes: Uint8Array, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count++;
  return count;
}

/** Packages make the same few addresses again and again. */
interface Place {
  readonly pin: Pin;
  readonly path: string;
}

export type BridgeFetch = (
  input: string | URL,
  init?: RequestInit,
) => Promise<Response | WholeReply>;

export interface BridgeFetchOptions {
  readonly provider: string;
  readonly dialer: Dialer;
  /** Signs each request, in place of what the package has put into its header. */
  readonly signer: AwsSigner | undefined;
  /** Streams are server-sent events; otherwise frames of the vendor's own. */
  readonly hasEvents: boolean;
}

/**
 * What packages send goes the way of all our requests: to an address that was looked at, never
 * redirected, a failure made an ApiError at once, and no more kept than may be.
 */
export function createBridgeFetch(options: BridgeFetchOptions): BridgeFetch {
  const { provider, dialer, signer, hasEvents } = options;
  const places = new Recent<Place>();
  const find = (address: string): Place => {
    const { pathname, search } = new URL(address);
    return places.keep(address, { pin: dialer.pin(address), path: pathname + search });
  };
  return async (input, init = {}) => {
    const address = String(input);
    const { pin, path } = places.get(address) ?? find(address);
    const { body, signal } = init;
    const known = signal === null || signal === undefined ? undefined : calls.get(signal);
    if (typeof body !== "string" && body !== null && body !== undefined)
      throw upstreamError("upstream_error", {
        detail: `${provider}: the request body is not text`,
      });
    const headers = toHeaders(init.headers, pin.host);
    if (signer !== undefined && typeof body === "string") {
      const request = { method: "POST", host: pin.host, path, body, nowMs: Date.now() };
      Object.assign(headers, signer.sign(request));
    }
    if (known?.trace !== undefined) Object.assign(headers, known.trace);
    const reply = await send({
      provider,
      pin,
      path,
      headers,
      body: body ?? undefined,
      signal: signal ?? never,
      onAccepted: known?.accept ?? ignore,
      onDial: known?.onDial,
    });
    if (known === undefined) return toResponse(reply);
    if (known.isStream)
      return streamed(bounded(reply, { call: known, provider, hasEvents }), provider);
    return whole(reply, { provider, signal: signal ?? never });
  };
}

const never = new AbortController().signal;
const ignore = () => {};

function toHeaders(given: RequestInit["headers"], host: string): Record<string, string> {
  const headers: Record<string, string> = {};
  // Packages pass a plain object, as a rule.
  if (given instanceof Headers || Array.isArray(given))
    for (const [name, value] of given) headers[name.toLowerCase()] = value;
  else for (const name in given) headers[name.toLowerCase()] = String(Reflect.get(given, name));
  headers["accept"] ??= "*/*";
  headers["host"] = host;
  headers["user-agent"] = "svc-gateway";
  headers["accept-encoding"] = "identity";
  return headers;
}

/** All of a reply, looked at before a package parses it. */
async function whole(
  reply: UpstreamReply,
  { provider, signal }: Pick<BridgeFetchOptions, "provider"> & { readonly signal: Signal },
): Promise<WholeReply> {
  try {
    const { bytes } = await reply.whole(maxReplyBytes);
    if (bytes.length > smallJsonChars && isTooHeavy(new TextDecoder().decode(bytes)))
      throw new RangeError("it is nested too deeply or has too many values");
    return new WholeReply(reply, bytes);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw toNetworkError({ provider, signal, cause });
    throw upstreamError("upstream_error", {
      detail: `${provider} sent a reply that exceeds a limit: ${cause.message}`,
    });
  }
}

/** Packages read a web page, or a complete reply, as an empty stream. */
async function streamed(response: Response, provider: string): Promise<Response> {
  const type = typeOf(response);
  if (!isDocument(type)) return response;
  const told = toldIn(provider, await response.text());
  const [plain = ""] = type.split(";");
  const detail = `${provider} sent ${plain} instead of a stream`;
  const symptom = plain === "text/html" ? "not_an_api" : undefined;
  throw told ?? upstreamError("upstream_error", { detail, symptom });
}

const typeOf = ({ headers }: Pick<UpstreamReply, "headers">) =>
  (headers.get("content-type") ?? "").toLowerCase();
const isDocument = (type: string) => /^(text\/html|application\/json)/.test(type);

/** What a package reads without a break: some 20 µs for each small event. */
const bridgedBytes = 32 * 1024;

interface Bounds {
  readonly call: Call;
  readonly provider: string;
  readonly hasEvents: boolean;
}

/** Packages keep what they cannot read yet, however much it is. */
function bounded(reply: UpstreamReply, { call, provider, hasEvents }: Bounds): Response {
  const packets = new PacketReader(reply, bridgedBytes);
  const events =
    hasEvents && !isDocument(typeOf(reply)) ? new SseReader(maxUnreadBytes) : undefined;
  const next = async () => {
    for (;;) {
      const packet = await packets.read();
      if (packet === undefined) return undefined;
      call.onHeard?.();
      const bytes = events === undefined ? packet : rewrite(events.push(packet));
      if (call.isTooMuch(bytes)) throw new RangeError("an event has too many values");
      if (bytes.length > 0) return bytes;
    }
  };
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const bytes = await next();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        } catch (cause) {
          if (!(cause instanceof RangeError)) throw cause;
          packets.cancel();
          throw upstreamError("upstream_error", {
            detail: `${provider} sent an event that is too large or has too many values`,
          });
        }
      },
      cancel: () => packets.cancel(),
    },
    { highWaterMark: 0 },
  );
  return toResponse(reply, stream);
}

/** Packages do not take CR as a line end, and look at each comment. */
function rewrite(events: readonly string[]): Buffer<ArrayBuffer> {
  return Buffer.from(
    events.map((data) => `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`).join(""),
  );
}
