/**
 * Whether the platform can be reached, for the whole page. A request that fails, a live stream that
 * ends and the browser's own offline event all lead here. From then on one probe at a time asks the
 * platform until it answers; requests wait meanwhile (see queries.ts), and what is shown stays.
 */

export type ConnectionState = "connected" | "unreachable" | "offline";

/** What an answer of the platform says about its console: see src/platform/site. */
const buildHeader = "x-svc-build";

interface ConnectionOptions {
  /** Asks the platform for a sign of life; undefined: it gave none. */
  readonly probe: () => Promise<Response | undefined>;
  readonly isOnline: () => boolean;
  /** The build that this page was loaded from; undefined where it is not known. */
  readonly ownBuild: () => string | undefined;
  readonly later: (action: () => void, ms: number) => void;
}

const firstWaitMs = 1_000;
const longestWaitMs = 4_000;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #listeners = new Set<() => void>();
  #state: ConnectionState = "connected";
  #newBuild: string | undefined;
  #probing: Promise<boolean> | undefined;
  #isRetrying = false;
  #waitMs = firstWaitMs;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get isUp(): boolean {
    return this.#state === "connected";
  }

  /** A console that is newer than this page; undefined: none. */
  get newBuild(): string | undefined {
    return this.#newBuild;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The platform answered, whatever it was. */
  heard({ headers }: Pick<Response, "headers">): void {
    const build = headers.get(buildHeader);
    const own = this.#options.ownBuild();
    const isNew = build !== null && own !== undefined && build !== own;
    this.#set({ state: "connected", newBuild: isNew ? build : undefined, build });
  }

  /** The browser has lost the network, which it knows at once. */
  lost(): void {
    this.#set({ state: "offline" });
    this.#retryLater();
  }

  /** Asks now; all who ask at the same time get one answer. */
  check(): Promise<boolean> {
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  /** Resolves once the platform has answered. */
  async untilUp(): Promise<void> {
    if (await this.check()) return;
    await new Promise<void>((resolve) => {
      const stop = this.subscribe(() => {
        if (!this.isUp) return;
        stop();
        resolve();
      });
    });
  }

  async #probe(): Promise<boolean> {
    const reply = await this.#options.probe().catch(() => undefined);
    if (reply?.ok === true) {
      this.heard(reply);
      return true;
    }
    this.#set({ state: this.#options.isOnline() ? "unreachable" : "offline" });
    this.#retryLater();
    return false;
  }

  #retryLater(): void {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    this.#options.later(() => {
      this.#isRetrying = false;
      if (!this.isUp) void this.check();
    }, this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 1.5, longestWaitMs);
  }

  #set(next: {
    readonly state: ConnectionState;
    readonly newBuild?: string | undefined;
    readonly build?: string | null;
  }): void {
    // An answer without a build, such as one of a proxy, says nothing about it.
    const newBuild = typeof next.build === "string" ? next.newBuild : this.#newBuild;
    if (next.state === "connected") this.#waitMs = firstWaitMs;
    if (next.state === this.#state && newBuild === this.#newBuild) return;
    this.#state = next.state;
    this.#newBuild = newBuild;
    for (const tell of this.#listeners) tell();
  }
}

const probeTimeoutMs = 5_000;

export const connection = new Connection({
  probe: () =>
    fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(probeTimeoutMs) }),
  isOnline: () => navigator.onLine,
  ownBuild: () => {
    const build = document.querySelector('meta[name="build"]')?.getAttribute("content") ?? "";
    return build === "" ? undefined : build;
  },
  later: (action, ms) => void setTimeout(action, ms),
});

/** What the browser itself knows of the network. */
export function watchNetwork(): void {
  window.addEventListener("offline", () => connection.lost());
  window.addEventListener("online", () => void connection.check());
  if (!navigator.onLine) connection.lost();
}
