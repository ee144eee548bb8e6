import type { Log } from "../base/log.ts";
import type { Listener } from "../base/network/listener.ts";
import type { EndedConnections } from "./ended-connections.ts";

export interface DrainingOptions {
  readonly listener: Pick<Listener, "shut" | "open">;
  readonly connections: EndedConnections;
  /** How long calls are still served, so that load balancers see `/readyz` fail. */
  readonly announceMs: number;
  readonly log: Log;
}

/** `announced`: calls are served, and each reply ends its connection. `closed`: nothing listens. */
export type DrainState = "none" | "announced" | "closed";

/**
 * Takes a gateway out of service without a failed call. An error reply would reach callers behind a
 * proxy that does not check health, because a POST that was answered must not be sent twice. A
 * refused connection is tried elsewhere by every proxy, whatever the method. So no call is rejected:
 * all are served until the port is closed, and by then no busy connection is left.
 */
export class Draining {
  readonly #options: DrainingOptions;
  #state: DrainState = "none";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasFailed = false;

  constructor(options: DrainingOptions) {
    this.#options = options;
  }

  get state(): DrainState {
    return this.#state;
  }

  /** Unannounced where nothing was served yet. */
  begin({ isAnnounced }: { readonly isAnnounced: boolean }): void {
    if (this.#state !== "none") return;
    const { connections, announceMs, log } = this.#options;
    this.#state = "announced";
    connections.expect(Number.POSITIVE_INFINITY);
    log.info("draining; calls are served until the port is closed", {
      closes_in_s: isAnnounced ? announceMs / 1000 : 0,
    });
    if (isAnnounced) this.#timer = setTimeout(() => void this.#close(), announceMs);
    else void this.#close();
  }

  /** Called again while the port cannot be opened. */
  end(): void {
    if (this.#state === "none") return;
    const { listener, connections, log } = this.#options;
    this.stop();
    try {
      listener.open();
    } catch (error) {
      if (!this.#hasFailed)
        log.error("cannot resume, because the port cannot be opened; trying again", {
          detail: String(error),
        });
      this.#hasFailed = true;
      return;
    }
    this.#hasFailed = false;
    this.#state = "none";
    connections.expect(0);
    log.info("resumed; new calls are accepted");
  }

  /** The caller closes the listener. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  async #close(): Promise<void> {
    await this.#options.listener.shut();
    if (this.#state !== "announced") return;
    this.#state = "closed";
    this.#options.log.info("drained; the port is closed, and calls in flight may finish");
  }
}
