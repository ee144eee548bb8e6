import type { Certificate } from "./certificate.ts";
import type { ListenerCertificate } from "./certificate-source.ts";
import { listen, type Place } from "./listen.ts";

/** As much of a server of the runtime as a listener needs. */
interface Served {
  readonly port?: number | undefined;
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** What the runtime needs to listen. */
export interface ListenOptions {
  readonly hostname: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface ListenerOptions {
  readonly place: Place;
  /** Other processes of this machine listen on the same port, and the kernel chooses among them. */
  readonly sharesPort?: boolean;
  /** With one, it speaks TLS only. */
  readonly certificate: ListenerCertificate | undefined;
  readonly serve: (options: ListenOptions) => Served;
}

/**
 * A port that is served, with TLS if there is a certificate. The runtime cannot change the
 * certificate of a server. So a new one listens beside it on the same port, and the old one stops
 * listening: its calls and streams go on to their end, and its idle connections are closed, as if
 * they had timed out.
 */
export class Listener {
  readonly port: number;
  readonly #options: ListenerOptions;
  readonly #certificate: ListenerCertificate | undefined;
  /** Undefined while the port is shut. */
  #current: Served | undefined;
  /** Those that finish their last calls. */
  readonly #leaving = new Set<Served>();
  #isStopping = false;
  /** The port is shut, or will be in a moment. */
  #isShut = false;

  constructor(options: ListenerOptions) {
    const { place, sharesPort = false, certificate } = options;
    this.#options = options;
    this.#certificate = certificate;
    this.port = sharesPort || certificate === undefined ? place.port : freePort(place);
    this.#current = this.#serve(certificate?.current);
    // A port of 0 is the kernel's choice.
    this.port = this.#current.port ?? this.port;
    certificate?.listeners.add(this.#replace);
  }

  /** Requests that have no complete reply yet. */
  get pending(): number {
    let sum = this.#current?.pendingRequests ?? 0;
    for (const { pendingRequests } of this.#leaving) sum += pendingRequests;
    return sum;
  }

  /** No new connections; what is in flight goes on. `open` listens on the same port again. */
  async shut(): Promise<void> {
    this.#isShut = true;
    await whenAccepted();
    if (!this.#isShut || this.#isStopping || this.#current === undefined) return;
    this.#leave(this.#current);
    this.#current = undefined;
  }

  /** Throws a Problem where another program has taken the port meanwhile. */
  open(): void {
    if (this.#isStopping) return;
    this.#current ??= this.#serve(this.#certificate?.current);
    this.#isShut = false;
  }

  /** For good: no new connections; what is in flight goes on. */
  async stopAccepting(): Promise<void> {
    this.#end();
    await whenAccepted();
    void this.#current?.stop(false);
  }

  /** At once. */
  async close(): Promise<void> {
    this.#end();
    await Promise.all([this.#current, ...this.#leaving].map((server) => server?.stop(true)));
  }

  #end(): void {
    this.#isStopping = true;
    this.#certificate?.listeners.delete(this.#replace);
  }

  #serve(certificate: Certificate | undefined): Served {
    const { place, serve, sharesPort = false } = this.#options;
    const { host: hostname } = place;
    const { port } = this;
    return listen({ ...place, port }, () => {
      // Not for all: a second process would share the port in silence, each with keys of its own.
      if (certificate === undefined) return serve({ hostname, port, reusePort: sharesPort });
      const { cert, key } = certificate;
      return serve({ hostname, port, reusePort: true, tls: { cert, key } });
    });
  }

  readonly #replace = (next: Certificate): void => {
    const old = this.#current;
    if (this.#isStopping || this.#isShut || old === undefined) return;
    this.#current = this.#serve(next);
    this.#leave(old);
  };

  #leave(old: Served): void {
    this.#leaving.add(old);
    void old.stop(false).finally(() => this.#leaving.delete(old));
  }
}

/**
 * The kernel resets connections that wait to be accepted when a port is closed, although their
 * clients may have sent a request. Between two of these turns, the event loop accepts all of them.
 */
async function whenAccepted(): Promise<void> {
  for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * A port that is shared with the next server of this process would be shared with any other that
 * asks for it. So it is taken for this process alone first: another server on it is found, and any
 * free port becomes a certain one.
 */
export function freePort(place: Place): number {
  const { host, port } = place;
  const server = listen(place, () =>
    Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() }),
  );
  const found = server.port ?? port;
  void server.stop(true);
  return found;
}
