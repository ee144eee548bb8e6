import { CommandTrouble, commandOutput } from "../base/command-output.ts";
import { isStoredReference } from "../base/stored-reference.ts";
import { childEnvironment, type Environment } from "./child-environment.ts";

const atOnce = 4;
const retryMs = 30_000;
const prefix = "command:";

/** One that svc.yaml could not have is not run: it would not be in the list that a restore shows. */
export const isCommand = (reference: string): boolean =>
  reference.startsWith(prefix) && isStoredReference(reference);

/** Of the command alone: its other words may be secret. */
export const commandPath = (reference: string): string => wordsOf(reference)[0] ?? "";

const wordsOf = (reference: string) =>
  reference
    .slice(prefix.length)
    .split(" ")
    .filter((word) => word !== "");

interface Known {
  /** The last one that it printed. */
  readonly value: string | undefined;
  /** Of the last run; the value of an earlier one stays in use. */
  readonly problem: string | undefined;
  /** Another number whenever the value changed, and after the first run. */
  readonly mark: number;
  readonly endedMs: number;
}

/**
 * What the commands of `${command:…}` have printed, for this process. Nothing waits for a command
 * where its value is used: each is run ahead of that and again from time to time.
 */
export class KeyCommands {
  readonly #known = new Map<string, Known>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #ending = new AbortController();
  readonly #environment: Environment;
  /** After which a command is run again. */
  readonly everyMs: number;
  #free = atOnce;

  constructor(environment: Environment, everyMs: number) {
    this.#environment = environment;
    this.everyMs = everyMs;
  }

  valueOf(reference: string): string | undefined {
    return this.#known.get(reference)?.value;
  }

  /** Undefined also before the first run has ended. */
  problemOf(reference: string): string | undefined {
    return this.#known.get(reference)?.problem;
  }

  hasRun(reference: string): boolean {
    return this.#known.has(reference);
  }

  markOf(reference: string): string {
    return String(this.#known.get(reference)?.mark ?? 0);
  }

  /** Runs those whose value is missing or old, once each. */
  async refresh(references: readonly string[], { retries }: { retries: boolean }): Promise<void> {
    const due = new Set(references.filter((one) => isCommand(one) && this.#isDue(one, retries)));
    await Promise.all([...due].map((one) => this.#run(one)));
  }

  /** Runs them now, however new their values are; one that is running is not run twice. */
  async rerun(references: readonly string[]): Promise<void> {
    await Promise.all(references.filter(isCommand).map((one) => this.#run(one)));
  }

  /** Forgets what no provider names any more. */
  keepOnly(references: ReadonlySet<string>): void {
    for (const one of this.#known.keys()) if (!references.has(one)) this.#known.delete(one);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running.values());
  }

  #isDue(reference: string, retries: boolean): boolean {
    const known = this.#known.get(reference);
    if (known === undefined) return true;
    const { problem, endedMs } = known;
    if (problem !== undefined && retries) return true;
    const waitMs = problem === undefined ? this.everyMs : Math.min(retryMs, this.everyMs);
    return performance.now() - endedMs >= waitMs;
  }

  #run(reference: string): Promise<void> {
    const running = this.#running.get(reference);
    if (running !== undefined) return running;
    const run = this.#inTurn(() => this.#runNow(reference)).finally(() =>
      this.#running.delete(reference),
    );
    this.#running.set(reference, run);
    return run;
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #runNow(reference: string): Promise<void> {
    const { signal } = this.#ending;
    if (signal.aborted) return;
    const words = wordsOf(reference);
    const environment = childEnvironment(this.#environment, "command");
    const found = await commandOutput({ words, environment, signal }).catch((error: unknown) => {
      if (error instanceof CommandTrouble) return error;
      return new CommandTrouble("failed in an unexpected way");
    });
    if (signal.aborted) return;
    const before = this.#known.get(reference);
    const isValue = typeof found === "string";
    const value = isValue ? found : before?.value;
    const isSame = before !== undefined && before.value === value;
    this.#known.set(reference, {
      value,
      problem: isValue ? undefined : found.message,
      mark: (before?.mark ?? 0) + (isSame ? 0 : 1),
      endedMs: performance.now(),
    });
  }
}
