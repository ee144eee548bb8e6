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
  #current: Served;
  /** Those that finish their last calls. */
  readonly #leaving = new Set<Served>();
  #isStopping = false;

  constructor(options: ListenerOptions) {
    const { place, sharesPort = false, certificate } = options;
    this.#options = options;
    this.#certificate = certificate;
    if (certificate === undefined) {
      const { host: hostname, port } = place;
      this.#current = listen(place, () =>
        // Not for all: a second process would share the port in silence, each with keys of its own.
        options.serve({ hostname, port, reusePort: sharesPort }),
      );
      this.port = this.#current.port ?? port;
      return;
    }
    this.port = sharesPort ? place.port : freePort(place);
    this.#current = this.#serve(certificate.current);
    // A port of 0 that is shared is the kernel's choice.
    this.port = this.#current.port ?? this.port;
    certificate.listeners.add(this.#replace);
  }

  /** Requests that have no complete reply yet. */
  get pending(): number {
    let sum = this.#current.pendingRequests;
    for (const { pendingRequests } of this.#leaving) sum += pendingRequests;
    return sum;
  }

  /** No new connections; what is in flight goes on. */
  stopAccepting(): void {
    this.#end();
    void this.#current.stop(false);
  }

  /** At once. */
  async close(): Promise<void> {
    this.#end();
    await Promise.all([this.#current, ...this.#leaving].map((server) => server.stop(true)));
  }

  #end(): void {
    this.#isStopping = true;
    this.#certificate?.listeners.delete(this.#replace);
  }

  #serve({ cert, key }: Certificate): Served {
    const { place, serve } = this.#options;
    return listen({ ...place, port: this.port }, () =>
      serve({ hostname: place.host, port: this.port, reusePort: true, tls: { cert, key } }),
    );
  }

  readonly #replace = (next: Certificate): void => {
    if (this.#isStopping) return;
    const old = this.#current;
    this.#current = this.#serve(next);
    this.#leaving.add(old);
    void old.stop(false).finally(() => this.#leaving.delete(old));
  };
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
