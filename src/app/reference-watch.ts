import { monotonicMs } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ProviderEntry, StoredOption } from "../catalog/model.ts";
import { chosenKey, keysOf, withKey } from "../catalog/provider-keys.ts";
import { commandPath, isCommand, type KeyCommands } from "../config/key-commands.ts";
import { canChange, referenceMark } from "../config/references.ts";
import type { ChangedProvider } from "../providers/contract.ts";

/** At most; commands that are run more often are looked at as often. */
const lookEveryMs = 2_000;
/** A start waits no longer for commands; they go on. */
const startMs = 10_000;

/** After which a rejected key is read early again; the pause doubles while rejections go on. */
const firstPauseMs = 10_000;

/** Early reads of one reference. Some vendors reject a key because of what a caller sent. */
interface EarlyReads {
  rejectedMs: number;
  readMs: number;
  pauseMs: number;
  isReading: boolean;
  /** Since the rejections began, an early read has already found another key. */
  hasChanged: boolean;
}

export interface ChangedReferences {
  /**
   * Whether an early read replaced this key again while rejections go on: its command may print
   * another key each time, so callers must not decide when failures are forgotten.
   */
  isRepeated(changed: ChangedProvider): boolean;
}

export interface ReferenceWatchOptions {
  readonly commands: KeyCommands;
  readonly log: Log;
  readonly onChange: (changed: ChangedReferences) => void;
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
  readonly #early = new Map<string, EarlyReads>();

  constructor(options: ReferenceWatchOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? monotonicMs;
    const everyMs = Math.min(lookEveryMs, options.commands.everyMs);
    this.#timer = setInterval(() => this.#look(), everyMs);
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
  async rejected(rejected: ChangedProvider): Promise<void> {
    if (this.#isClosed) return;
    const due = this.#referencesFor(rejected).filter((one) => canChange(one) && this.#isDue(one));
    if (due.length === 0) return;
    const reads = due.filter(isCommand).flatMap((one) => this.#early.get(one) ?? []);
    for (const one of reads) one.isReading = true;
    await this.#options.commands.rerun(due);
    this.#look();
    for (const one of reads) one.isReading = false;
  }

  /** Of one key, or of a provider that has one at most. */
  #referencesFor({ name, key }: ChangedProvider): readonly string[] {
    const entry = this.#providers.find((one) => one.name === name);
    if (entry === undefined) return [];
    const used = key === undefined ? undefined : chosenKey(entry, key);
    return referencesOf(used === undefined ? entry : withKey(entry, used));
  }

  /**
   * Whether to read it now. The pause starts over once a key was not rejected for as long as a
   * command's key is used anyway.
   */
  #isDue(reference: string): boolean {
    const nowMs = this.#nowMs();
    const { everyMs } = this.#options.commands;
    const known = this.#early.get(reference);
    if (known === undefined || nowMs - known.rejectedMs >= everyMs) {
      this.#early.set(reference, {
        rejectedMs: nowMs,
        readMs: nowMs,
        pauseMs: firstPauseMs,
        isReading: false,
        hasChanged: false,
      });
      return true;
    }
    known.rejectedMs = nowMs;
    if (known.isReading || nowMs - known.readMs < known.pauseMs) return false;
    known.readMs = nowMs;
    known.pauseMs = Math.max(firstPauseMs, Math.min(known.pauseMs * 2, everyMs));
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
    const isRepeated = this.#repeats(changed.map(([one]) => one));
    if (changed.length > 0) onChange({ isRepeated });
    void this.#refresh();
  }

  #repeats(changed: readonly string[]): ChangedReferences["isRepeated"] {
    const repeated = new Set<string>();
    for (const one of changed) {
      const early = this.#early.get(one);
      if (early?.isReading !== true) continue;
      if (early.hasChanged) repeated.add(one);
      early.hasChanged = true;
    }
    return (provider) => {
      const own = this.#referencesFor(provider).filter((one) => changed.includes(one));
      return own.length > 0 && own.every((one) => repeated.has(one));
    };
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
