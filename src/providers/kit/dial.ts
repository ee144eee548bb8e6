import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import type { ApiError } from "../../base/errors.ts";
import type { Probe } from "../contract.ts";
import { hostOf, placeOf, placeProblem } from "./address.ts";
import { upstreamError } from "./failure.ts";
import type { Place } from "./http1/connection.ts";
import { Pool, type Reuse } from "./http1/pool.ts";

/** The addresses of a name, as the operating system finds them. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface DialerOptions {
  readonly provider: string;
  readonly allowPrivate: boolean;
  /** False: a connection per request. */
  readonly reusesConnections?: boolean | undefined;
  readonly lookup?: Lookup | undefined;
  /** Whether calls there go through a proxy of the operator's, which then finds the address itself. */
  readonly usesProxy?: ((url: URL) => boolean) | undefined;
}

/** Where the bytes go: an address that was looked at, and the name that its certificate must have. */
export interface Dialled {
  readonly origin: string;
  readonly tls: { readonly serverName: string } | undefined;
  /** Our own connections to it; undefined where the runtime's client has to do it. */
  readonly pool: Pool | undefined;
  /** What the runtime's client has to speak, if it is not HTTP/1.1. */
  readonly protocol?: "http2" | undefined;
  /** Undefined: by the operator's. The runtime would look for exceptions by address, not by name. */
  readonly proxy?: false | undefined;
  /** False: the runtime's client does not use the connection again. */
  readonly keepalive?: false | undefined;
}

const keepMs = 30_000;
const lookupMs = 5_000;
const http2Ms = 600_000;
/** A name with more addresses than this opens connections more often. */
const maxPools = 32;

const systemLookup: Lookup = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

/**
 * Finds the addresses of upstreams, and connects to those that it has looked at: a name that leads
 * to a private address, now or later, is refused, because what was checked is what is dialled.
 */
export class Dialer {
  readonly #options: DialerOptions;
  readonly #pins = new Map<string, Pin>();

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** The pin of an address's origin; kept, because connections are kept by it. */
  pin(address: string): Pin {
    const url = new URL(address);
    let pin = this.#pins.get(url.origin);
    if (pin === undefined) {
      pin = new Pin(url, this.#options);
      this.#pins.set(url.origin, pin);
    }
    return pin;
  }
}

/** One origin, pinned to an address of its own. */
export class Pin {
  /** For the Host header. */
  readonly host: string;
  /** By its name, for what is reached otherwise than by an address: over a socket or a proxy. */
  readonly named: Dialled;
  readonly #url: URL;
  readonly #name: string;
  readonly #options: DialerOptions;
  readonly #isFixed: boolean;
  /** By address or path: names that lead to many addresses come back to the same ones. */
  readonly #pools = new Map<string, Pool>();
  #addresses: readonly string[] = [];
  #at = 0;
  #dialled: Dialled | undefined;
  /** Its servers have refused HTTP/1.1: until then that is not tried again. */
  #http2UntilMs = 0;
  #freshUntilMs = 0;
  #finding: Promise<Dialled> | undefined;
  /** An address that stands in the settings and is not called. */
  readonly #refusal: ApiError | undefined;

  constructor(url: URL, options: DialerOptions) {
    this.#url = url;
    this.host = url.host;
    this.#name = hostOf(url);
    this.#options = options;
    const isLiteral = isIP(this.#name) !== 0;
    const usesProxy = options.usesProxy?.(url) === true;
    this.#isFixed = isLiteral || usesProxy;
    // Certificates of bare addresses are left to the runtime's client.
    const isPlain = isLiteral && !usesProxy && url.protocol === "http:";
    const pool = isPlain ? this.#poolOf(this.#name, undefined) : undefined;
    const proxy = usesProxy ? undefined : false;
    this.named = { origin: url.origin, tls: undefined, pool, proxy, keepalive: this.#keepalive };
    if (isLiteral) this.#refusal = this.#problemOf([this.#name]);
    if (!this.#isFixed || this.#refusal !== undefined) return;
    this.#dialled = this.named;
    this.#freshUntilMs = Number.POSITIVE_INFINITY;
    if (isLiteral) this.#addresses = [this.#name];
  }

  /** The address to use now; at once, unless it was never found. A stale one is looked up beside. */
  dial(nowMs = Date.now()): Dialled | Promise<Dialled> {
    if (nowMs < this.#freshUntilMs && this.#dialled !== undefined) return this.#dialled;
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    const finding = (this.#finding ??= this.#find().finally(() => (this.#finding = undefined)));
    if (this.#dialled === undefined) return finding;
    finding.catch(() => {});
    return this.#dialled;
  }

  /** The connections to a unix socket that stands for this origin. */
  socketPool(unix: string): Pool {
    const known = this.#pools.get(unix);
    if (known !== undefined) return known;
    return this.#keepPool(unix, { hostname: "", port: 0, serverName: undefined, unix });
  }

  /** How many addresses there are to try. */
  get count(): number {
    return this.#isFixed ? 1 : Math.max(1, this.#addresses.length);
  }

  /** An address did not answer: the next one of the same name, in turn; and they are looked up anew. */
  next(failed: Dialled): Dialled {
    if (this.#isFixed) return failed;
    this.#freshUntilMs = 0;
    // Another call may have moved on already.
    if (this.#dialled !== undefined && this.#dialled.origin !== failed.origin) return this.#dialled;
    this.#at = (this.#at + 1) % this.count;
    return this.#point();
  }

  /**
   * Its servers have refused one version of HTTP: the other one is used for a while. HTTP/2 is left to
   * the runtime's client. A refusal carries no signature, so it does not count for long.
   */
  speak(protocol: "http1" | "http2"): Dialled {
    this.#http2UntilMs = protocol === "http2" ? Date.now() + http2Ms : 0;
    return this.#point();
  }

  /** An address that cannot be reached is left for the next one, for all calls to come. */
  readonly probe: Probe = async (withinMs) => {
    const address = this.#addresses[this.#at];
    const dialled = this.#dialled;
    if (address === undefined || dialled === undefined) return undefined;
    const problem = await reach({ host: address, port: this.#port, withinMs });
    if (problem !== undefined) this.next(dialled);
    return problem;
  };

  async #find(): Promise<Dialled> {
    const { provider } = this.#options;
    let addresses: readonly string[];
    try {
      addresses = await withTime((this.#options.lookup ?? systemLookup)(this.#name), lookupMs);
      if (addresses.length === 0) throw new Error("it has no address");
    } catch (cause) {
      // An old address is better than none: it was looked at when it was found.
      if (this.#dialled !== undefined) {
        this.#freshUntilMs = Date.now() + keepMs;
        return this.#dialled;
      }
      const detail = `${provider}: the host name ${this.#name} cannot be resolved`;
      throw upstreamError("upstream_error", {
        detail,
        reason: "unreachable",
        symptom: "unknown_name",
        cause,
      });
    }
    const refusal = this.#problemOf(addresses);
    if (refusal !== undefined) {
      this.#dialled = undefined;
      throw refusal;
    }
    const current = this.#addresses[this.#at];
    this.#addresses = addresses;
    // Connections are kept by address: one that is still good is not left.
    this.#at = Math.max(0, current === undefined ? 0 : addresses.indexOf(current));
    this.#freshUntilMs = Date.now() + keepMs;
    return this.#point();
  }

  #problemOf(addresses: readonly string[]): ApiError | undefined {
    const { provider, allowPrivate } = this.#options;
    for (const address of addresses) {
      const place = placeOf(address);
      const problem = placeProblem(place, allowPrivate);
      if (problem === undefined) continue;
      const what = address === this.#name ? address : `${this.#name} resolves to ${address}, which`;
      return upstreamError("upstream_unavailable", {
        detail: `${provider}: ${what} ${problem}`,
        reason: "unreachable",
        symptom: place === "private" ? "private_address" : "forbidden_address",
      });
    }
    return undefined;
  }

  #point(): Dialled {
    const address = this.#addresses[this.#at] ?? this.#name;
    const { protocol, port } = this.#url;
    const host = address.includes(":") ? `[${address}]` : address;
    const origin = `${protocol}//${host}${port === "" ? "" : `:${port}`}`;
    const tls = protocol === "https:" ? { serverName: this.#name } : undefined;
    const isHttp2 = Date.now() < this.#http2UntilMs;
    this.#dialled = {
      origin,
      tls,
      pool: isHttp2 ? undefined : this.#poolOf(address, tls?.serverName),
      protocol: isHttp2 ? "http2" : undefined,
      proxy: false,
      keepalive: this.#keepalive,
    };
    return this.#dialled;
  }

  #poolOf(hostname: string, serverName: string | undefined): Pool {
    return this.#keepPool(hostname, { hostname, port: this.#port, serverName, unix: undefined });
  }

  /** A socket file leads to our own engine. */
  #reuseOf({ unix }: Place): Reuse {
    if (this.#options.reusesConnections === false) return "never";
    return unix === undefined ? "rested" : "at-once";
  }

  get #keepalive(): false | undefined {
    return this.#options.reusesConnections === false ? false : undefined;
  }

  get #port(): number {
    return Number(this.#url.port || (this.#url.protocol === "https:" ? 443 : 80));
  }

  #keepPool(id: string, place: Place): Pool {
    const pool = this.#pools.get(id) ?? new Pool(place, { reuse: this.#reuseOf(place) });
    // The one that was used last is the last to go.
    this.#pools.delete(id);
    this.#pools.set(id, pool);
    for (const oldest of this.#pools.keys())
      if (this.#pools.size > maxPools) this.#pools.delete(oldest);
      else break;
    return pool;
  }
}

function reach(options: {
  readonly host: string;
  readonly port: number;
  readonly withinMs: number;
}): Promise<string | undefined> {
  const { host, port, withinMs } = options;
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (problem: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(problem);
    };
    const timer = setTimeout(() => end("the connection timed out"), withinMs);
    socket.once("connect", () => end(undefined));
    socket.once("error", () => end("the connection was refused"));
  });
}

async function withTime<T>(work: Promise<T>, withinMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
