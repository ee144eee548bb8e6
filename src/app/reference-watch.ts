import { monotonicMs } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ProviderEntry, StoredOption } from "../catalog/model.ts";
import { chosenKey, keysOf, withKey } from "../catalog/provider-keys.ts";
import { commandPath, isCommand, type KeyCommands } from "../config/key-commands.ts";
import { canChange, referenceMark } from "../config/references.ts";
import type { ChangedProvider } from "../providers/contract.ts";

const lookEveryMs = 2_000;
/** A start waits no longer for commands; they go on. */
const startMs = 10_000;

/** How often a key that vendors reject is read early: some say so because of what a caller sent. */
const earlyEveryMs = 10_000;

export interface ReferenceWatchOptions {
  readonly commands: KeyCommands;
  readonly log: Log;
  readonly onChange: () => void;
  readonly nowMs?: () => number;
}

/**
 * Looks at the files that providers take their keys from, runs the commands that print keys, and
 * calls back when one was replaced.
 */
export class ReferenceWatch {
  readonly #options: ReferenceWatchOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #providers: readonly ProviderEntry[] = [];
  #known: ReadonlyMap<string, string> = new Map();
  #isClosed = false;
  /** Commands whose last run failed while an earlier value is in use. */
  readonly #failing = new Set<string>();
  readonly #nowMs: () => number;
  /** When references were last read early. */
  readonly #early = new Map<string, number>();

  constructor(options: ReferenceWatchOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? monotonicMs;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
    this.#timer.unref();
  }

  /** Before their files are read: one that is replaced right after that is noticed. */
  expect(providers: readonly ProviderEntry[]): void {
    this.#providers = providers;
    this.#known = this.#marks();
    const references = new Set(this.#references());
    this.#options.commands.keepOnly(references);
    for (const one of this.#early.keys()) if (!references.has(one)) this.#early.delete(one);
    if (this.#references().some(isCommand)) void this.#refresh().then(() => this.#look());
  }

  /** Resolves when every command has run once, or when a start should not wait for it any longer. */
  async started(): Promise<void> {
    if (!this.#references().some(isCommand)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, startMs);
    await Promise.race([this.#refresh(), promise]).finally(() => clearTimeout(timer));
    this.#look();
  }

  /**
   * A vendor rejects a key: its file or command may already have another one. Nobody waits for it;
   * what changed is used by the next call.
   */
  async rejected({ name, key }: ChangedProvider): Promise<void> {
    const entry = this.#providers.find((one) => one.name === name);
    if (entry === undefined || this.#isClosed) return;
    const used = key === undefined ? undefined : chosenKey(entry, key);
    const asked = used === undefined ? entry : withKey(entry, used);
    const due = referencesOf(asked).filter((one) => canChange(one) && this.#takeEarly(one));
    if (due.length === 0) return;
    await this.#options.commands.rerun(due);
    this.#look();
  }

  #takeEarly(reference: string): boolean {
    const nowMs = this.#nowMs();
    const before = this.#early.get(reference);
    if (before !== undefined && nowMs - before < earlyEveryMs) return false;
    this.#early.set(reference, nowMs);
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#options.commands.close();
  }

  #refresh(): Promise<void> {
    return this.#options.commands.refresh(this.#references(), { retries: false });
  }

  #look(): void {
    if (this.#isClosed) return;
    const { commands, log, onChange } = this.#options;
    const changed = [...this.#marks()].filter(([one, mark]) => this.#known.get(one) !== mark);
    if (changed.some(([one]) => !isCommand(one)))
      log.info("a file with a provider's key was replaced");
    for (const [one] of changed)
      if (commands.valueOf(one) !== undefined)
        log.info(`${this.#subjectOf(one)} printed a new key`);
    this.#noteFailures();
    if (changed.length > 0) onChange();
    void this.#refresh();
  }

  /** One line when a command begins to fail, and one when it works again. */
  #noteFailures(): void {
    const { commands, log } = this.#options;
    const references = new Set(this.#references().filter(isCommand));
    for (const one of this.#failing) if (!references.has(one)) this.#failing.delete(one);
    for (const one of references) {
      const problem = commands.problemOf(one);
      const isFailing = problem !== undefined && commands.valueOf(one) !== undefined;
      if (isFailing === this.#failing.has(one)) continue;
      if (isFailing) {
        this.#failing.add(one);
        log.warn(`${this.#subjectOf(one)} ${problem}; the last key that it printed stays in use`);
      } else {
        this.#failing.delete(one);
        log.info(`${this.#subjectOf(one)} works again`);
      }
    }
  }

  #subjectOf(command: string): string {
    const users = this.#providers.filter((entry) => referencesOf(entry).includes(command));
    return `provider ${users.map(({ name }) => name).join(", ")}: ${commandPath(command)}`;
  }

  #references(): readonly string[] {
    return this.#providers
      .filter(({ isPaused }) => isPaused !== true)
      .flatMap((entry) => referencesOf(entry));
  }

  #marks(): ReadonlyMap<string, string> {
    const marks = new Map<string, string>();
    for (const reference of this.#references()) {
      const mark = referenceMark(reference, this.#options.commands);
      if (mark !== undefined) marks.set(reference, mark);
    }
    return marks;
  }
}

export function referencesOf(entry: ProviderEntry): readonly string[] {
  const all: readonly StoredOption[] = [
    ...keysOf(entry).map(({ secret }) => secret),
    ...Object.values(entry.options ?? {}),
  ];
  return all.flatMap((one) => ("variable" in one ? [one.variable] : []));
}
