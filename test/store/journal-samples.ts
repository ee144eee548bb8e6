import type { Log } from "../../src/base/log.ts";
import { Journal, JournalError, type JournalOptions } from "../../src/ledger/journal.ts";
import type { LedgerWrite } from "../../src/ledger/store.ts";

interface Commit {
  /** The ids of what is to be written. */
  readonly ids: readonly string[];
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

/** A store that does what the test says, when it says so. */
export function setUp(options: Partial<JournalOptions> = {}) {
  const commits: Commit[] = [];
  const asking: ((commit: Commit) => void)[] = [];
  const lines: string[] = [];
  const clock = { ms: 1_000 };
  const line = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const log: Log = {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
  };
  const journal = new Journal({
    store: {
      commit(writes) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const commit = { ids: writes.map(idOf), succeed: resolve, fail: reject };
        const ask = asking.shift();
        if (ask === undefined) commits.push(commit);
        else ask(commit);
        return promise;
      },
    },
    log,
    nowMs: () => clock.ms,
    patienceMs: 100,
    retryMs: 1,
    roundMs: 1,
    ...options,
  });
  /** The next commit that the store is asked for, as soon as it is. */
  const next = () =>
    new Promise<Commit>((resolve) => {
      const commit = commits.shift();
      if (commit === undefined) asking.push(resolve);
      else resolve(commit);
    });
  /** Fails the next commit, and waits until the journal has heard of it. */
  const failNext = async (error: Error = diskFull) => {
    (await next()).fail(error);
    await turn();
  };
  return { journal, next, failNext, commits, lines, clock };
}

function idOf(of: LedgerWrite): string {
  if (of.type === "receipt") return of.receipt.id;
  if (of.type === "void") return `void ${of.of.receipt.id}`;
  const id = of.type === "claim" ? of.claim.id : of.id;
  if (!id.startsWith("probe ")) return id;
  return of.type === "claim" ? "probe" : "end of the probe";
}

export const release = (id: string): LedgerWrite => ({ type: "claim-release", id });
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
export const diskFull = new Error("disk full");

/** What has become of it so far. */
export function watch(promise: Promise<void>) {
  const state = { now: "waiting" };
  promise.then(
    () => (state.now = "written"),
    (error: unknown) => {
      if (!(error instanceof JournalError)) throw error;
      state.now = error.isTakenBack ? "taken back" : "owed";
    },
  );
  return state;
}
