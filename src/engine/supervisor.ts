import { existsSync } from "node:fs";
import { join } from "node:path";
import { packedBytes } from "../../engine/weights/layout.ts";
import { type SetName, type SetProgress, setNames, weightSets } from "../../engine/weights/sets.ts";
import { readyDir } from "../../engine/weights/state.ts";
import { ApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { projectDir } from "../base/place.ts";
import { tryAgainIn } from "../base/text/try-again.ts";
import type { Signal } from "../call/signal.ts";
import { childEnvironment, type Environment } from "../config/child-environment.ts";
import type { OwnModel } from "../config/engine-section.ts";
import { setOf } from "./embedded.ts";
import { ensureEngineInstalled } from "./install.ts";
import { hasLibraries } from "./place.ts";
import { pullWeights } from "./weights-pull.ts";
import { toWeightsView, type WeightsView } from "./weights-view.ts";

/** The engine as `svc engine status` shows it. */
export interface EngineView {
  readonly state: "unused" | "installing" | "starting" | "running" | "failed";
  readonly pid: number | null;
  readonly problem: string | null;
  /** Those that a request has reached since the engine's start. */
  readonly models: readonly {
    readonly name: string;
    readonly state: "idle" | "loading" | "loaded";
    readonly pid: number | null;
    readonly active: number;
    readonly waiting: number;
  }[];
}

export interface EngineOptions {
  readonly socket: string;
  readonly cacheDir: string;
  /** Of which the engine's process gets what it needs. */
  readonly environment: Environment;
  readonly ownModels: readonly OwnModel[];
  readonly log: Log;
}

type Child = Bun.Subprocess<"ignore", "inherit", "inherit">;

const firstPauseMs = 250;
const longestPauseMs = 30_000;
/** From here on nobody waits for it, and the status says so. */
const hopelessMs = 2_000;
/** An engine that ran this long was healthy: its next start does not wait. */
const healthyMs = 60_000;
/** How long a call waits for an engine that is just starting. */
const patienceMs = 15_000;
const retryPullMs = 30_000;
const stopMs = 5_000;

/**
 * Keeps the engine running while some model of the catalogue needs it: installs its libraries and
 * fetches weights in the background, starts its process, starts it again when it dies (at once,
 * then with growing pauses), and stops it with the gateway.
 */
export class EngineSupervisor {
  readonly #options: EngineOptions;
  /** Told how the fetching goes. */
  readonly watchers = new Set<(progress: SetProgress) => void>();
  readonly #stopping = new AbortController();
  readonly #progress = new Map<SetName, SetProgress>();
  #wanted: readonly SetName[] = [];
  /** Those that the operator wants beside them, until they are here. */
  readonly #asked = new Set<SetName>();
  /** Ends the pause before what failed is tried again. */
  #hurry = new AbortController();
  #isStarted = false;
  #isEnding = false;
  #isPulling = false;
  #child: Child | undefined;
  #isListening = false;
  #listening = Promise.withResolvers<void>();
  #pauseMs = 0;
  #startedMs = 0;
  #problem: string | undefined;
  #fetchRate = { startedMs: 0, doneBytes: 0 };

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Sets the models that the catalog routes to the engine; called whenever they may have changed. */
  need(models: Iterable<string>): void {
    const names = [...new Set(models)];
    for (const name of names) {
      const problem = this.problemOf(name);
      if (problem !== undefined) this.#options.log.warn(`engine: ${problem}`);
    }
    this.#wanted = setNames.filter((set) => names.some((name) => this.#setOf(name) === set));
    if (names.length > 0 && !this.#isStarted) {
      this.#isStarted = true;
      void this.#install();
    } else if (this.#child !== undefined) void this.#pull();
  }

  /** Downloads what the operator requests in the background, and retries failed downloads at once. */
  fetchWeights(names: readonly string[]): void {
    const sets = setNames.filter((set) => names.includes(set) && !this.#isReady(set));
    for (const set of sets) {
      this.#asked.add(set);
      if (this.#progress.get(set)?.phase === "failed") this.#progress.delete(set);
    }
    if (sets.length === 0) return;
    this.#hurry.abort();
    this.#hurry = new AbortController();
    // Preparing weights needs the libraries; an install in progress downloads at its end.
    if (this.#child !== undefined) void this.#pull();
    else if (!this.#isStarted) void this.#installAndPull();
  }

  weights(): readonly WeightsView[] {
    return setNames.map((set) =>
      toWeightsView({
        set,
        isReady: this.#isReady(set),
        isNeeded: this.#wanted.includes(set),
        isAsked: this.#asked.has(set),
        progress: this.#progress.get(set),
      }),
    );
  }

  /** Throws `model_loading` with the progress; waits for an engine that is (re)starting. */
  async whenReady(model: string, signal: Signal): Promise<void> {
    const set = this.#setOf(model);
    if (set !== undefined && !this.#isReady(set)) {
      // They may have been removed while we ran.
      if (this.#child !== undefined) void this.#pull();
      throw this.#loading(set);
    }
    const problem = this.problemOf(model);
    if (problem !== undefined)
      throw new ApiError({
        code: "upstream_unavailable",
        message:
          "The model is unavailable. If this continues, give the operator the x-request-id of this response.",
        detail: `engine: ${problem}`,
      });
    if (this.#isListening) return;
    if (this.#pauseMs > hopelessMs) throw this.#starting();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#starting()), patienceMs);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    await Promise.race([this.#listening.promise, patience]).finally(() => clearTimeout(timer));
  }

  /** What keeps a model from being served until the operator fixes it. */
  problemOf(model: string): string | undefined {
    const own = this.#options.ownModels.find(({ name }) => name === model);
    if (own === undefined)
      return setOf(model) === undefined
        ? `model ${model} does not exist; the embedded models are chat, text, image, speech-flash and speech-pro, and svc.yaml defines others in engine.models`
        : undefined;
    return existsSync(own.file) ? undefined : `the file of ${model}, ${own.file}, does not exist`;
  }

  /** Download progress of the weights that the catalog needs. */
  get progress(): readonly SetProgress[] {
    return this.#wanted.map((set) => {
      const totalBytes = packedBytes(weightSets[set]);
      if (this.#isReady(set))
        return {
          set,
          phase: hasLibraries(this.#options.cacheDir) ? "ready" : "waiting",
          doneBytes: totalBytes,
          totalBytes,
        };
      return this.#progress.get(set) ?? { set, phase: "waiting", doneBytes: 0, totalBytes };
    });
  }

  async view(): Promise<EngineView> {
    const pid = this.#child?.pid ?? null;
    const problem = this.#problem ?? null;
    const status = this.#isListening
      ? await fetch("http://localhost/status", { unix: this.#options.socket })
          .then((response) => response.json() as Promise<Pick<EngineView, "models">>)
          .catch(() => undefined)
      : undefined;
    const models = status?.models ?? [];
    if (!this.#isStarted) return { state: "unused", pid, problem, models };
    if (this.#isListening) return { state: "running", pid, problem, models };
    const state = pid === null && this.#startedMs === 0 ? "installing" : "starting";
    return { state: problem === null ? state : "failed", pid, problem, models };
  }

  /** A signal to the whole process group ends the engine too: it is not started again. */
  expectEnd(): void {
    this.#isEnding = true;
  }

  async close(withinMs = stopMs): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child === undefined) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), Math.min(stopMs, withinMs / 2));
    await child.exited;
    clearTimeout(timer);
  }

  #setOf(model: string): SetName | undefined {
    return this.#options.ownModels.some(({ name }) => name === model) ? undefined : setOf(model);
  }

  #isReady(set: SetName): boolean {
    return readyDir(this.#options.cacheDir, set) !== undefined;
  }

  async #install(): Promise<void> {
    const { log } = this.#options;
    for (let pauseMs = retryPullMs; !this.#stopping.signal.aborted; pauseMs *= 2) {
      try {
        await ensureEngineInstalled({
          environment: this.#options.environment,
          cacheDir: this.#options.cacheDir,
          onLine: (line) => log.info(`engine: ${line}`),
          signal: this.#stopping.signal,
        });
        this.#problem = undefined;
        this.#spawn();
        for (const progress of this.progress) if (progress.phase === "ready") this.#tell(progress);
        return void this.#pull();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#problem = error instanceof Error ? error.message : String(error);
        log.error(this.#problem);
        await this.#pause(Math.min(pauseMs, 600_000));
      }
    }
  }

  async #installAndPull(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const { environment, cacheDir } = this.#options;
      await ensureEngineInstalled({ environment, cacheDir, signal });
      await this.#pull();
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      for (const set of this.#asked) {
        const totalBytes = packedBytes(weightSets[set]);
        this.#note({ set, phase: "failed", doneBytes: 0, totalBytes, problem });
      }
      this.#asked.clear();
    }
  }

  /** Fetches what is missing; what failed is tried again later, with growing pauses. */
  async #pull(): Promise<void> {
    if (this.#isPulling) return;
    this.#isPulling = true;
    const { cacheDir, log } = this.#options;
    for (let pauseMs = retryPullMs; !this.#stopping.signal.aborted; pauseMs *= 2) {
      for (const set of this.#asked) if (this.#isReady(set)) this.#asked.delete(set);
      const sets = setNames.filter(
        (set) => (this.#wanted.includes(set) || this.#asked.has(set)) && !this.#isReady(set),
      );
      if (sets.length === 0) break;
      const hurry = this.#hurry.signal;
      log.info(`engine: downloading the weights of ${sets.join(", ")}`);
      await pullWeights({
        environment: this.#options.environment,
        cacheDir,
        sets,
        signal: this.#stopping.signal,
        onProgress: (progress) => this.#note(progress),
      }).catch((error: unknown) => log.error(`engine: ${String(error)}`));
      if (hurry.aborted || sets.every((set) => this.#isReady(set))) continue;
      await this.#pause(Math.min(pauseMs, 600_000), hurry);
    }
    this.#isPulling = false;
  }

  #note(progress: SetProgress): void {
    const before = this.#progress.get(progress.set);
    if (progress.phase === "fetching" && before?.phase !== "fetching")
      this.#fetchRate = { startedMs: Date.now(), doneBytes: progress.doneBytes };
    this.#progress.set(progress.set, progress);
    if (this.#stopping.signal.aborted) return;
    if (progress.phase === "failed" && before?.problem !== progress.problem)
      this.#options.log.error(
        `engine: the weights of ${progress.set} could not be downloaded. ${progress.problem ?? ""}`,
      );
    this.#tell(progress);
  }

  #tell(progress: SetProgress): void {
    for (const watch of this.watchers) watch(progress);
  }

  #spawn(): void {
    if (this.#stopping.signal.aborted) return;
    this.#startedMs = Date.now();
    const main = join(projectDir, "src", "main.ts");
    const child: Child = Bun.spawn([process.execPath, "--no-env-file", main, "engine"], {
      env: childEnvironment(this.#options.environment, "engine"),
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      ipc: () => {
        this.#isListening = true;
        this.#problem = undefined;
        this.#listening.resolve();
      },
      onExit: () => this.#onExit(child),
    });
    this.#child = child;
  }

  #onExit(child: Child): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    // Calls that already wait share this promise: it resolves when a later start succeeds.
    if (this.#isListening) this.#listening = Promise.withResolvers();
    this.#isListening = false;
    if (this.#isEnding || this.#stopping.signal.aborted) return;
    if (Date.now() - this.#startedMs > healthyMs) this.#pauseMs = 0;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(Math.max(firstPauseMs, pauseMs * 2), longestPauseMs);
    const code = child.signalCode ?? child.exitCode;
    if (pauseMs >= hopelessMs) this.#problem = `its process exits with ${code} on startup`;
    this.#options.log.error("engine: process exited; restarting it", {
      code,
      in_ms: pauseMs,
    });
    void this.#pause(pauseMs).then(() => this.#spawn());
  }

  #pause(ms: number, hurry?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    for (const signal of [this.#stopping.signal, hurry])
      signal?.addEventListener("abort", () => resolve(), { once: true });
    return promise.finally(() => clearTimeout(timer));
  }

  #loading(set: SetName): ApiError {
    const progress = this.#progress.get(set);
    const retryAfterMs = this.#waitMs(progress);
    return new ApiError({
      code: "model_loading",
      message: `This model is not ready yet: ${this.#describe(progress)}. ${tryAgainIn(retryAfterMs)}`,
      retryAfterMs,
    });
  }

  #describe(progress: SetProgress | undefined): string {
    if (this.#child === undefined)
      return this.#problem === undefined
        ? "its runtime is being installed"
        : "its runtime could not be installed";
    switch (progress?.phase) {
      case "fetching": {
        const { doneBytes, totalBytes } = progress;
        const percent = Math.floor((100 * doneBytes) / Math.max(1, totalBytes));
        return `${percent}% of its ${Math.round(totalBytes / 1e6)} MB of weights have been downloaded`;
      }
      case "preparing":
        return "its weights are being prepared";
      case "failed":
        return "the download of its weights failed and will be retried";
      case "waiting":
        return "its weights are queued for download";
      default:
        return "its weights are about to be downloaded";
    }
  }

  /** From the pace so far; between 2 s and a minute. */
  #waitMs(progress: SetProgress | undefined): number {
    if (progress?.phase === "preparing") return 3_000;
    if (progress?.phase === "failed") return 30_000;
    if (progress?.phase !== "fetching") return 10_000;
    const { startedMs, doneBytes } = this.#fetchRate;
    const perMs = (progress.doneBytes - doneBytes) / Math.max(1, Date.now() - startedMs);
    const leftMs = perMs > 0 ? (progress.totalBytes - progress.doneBytes) / perMs : 10_000;
    return Math.min(60_000, Math.max(2_000, Math.ceil(leftMs)));
  }

  #starting(): ApiError {
    const retryAfterMs = 5_000;
    return new ApiError({
      code: "model_loading",
      message: `The embedded models are starting. ${tryAgainIn(retryAfterMs)}`,
      detail: "engine: not listening",
      retryAfterMs,
    });
  }
}
