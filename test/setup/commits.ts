/** The real store, with something around its commits. */

import type { ServerOptions } from "../../src/app/server.ts";
import { openStore } from "../../src/app/store.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";

export type Commit = LedgerStore["commit"];

export const aroundCommits =
  (wrap: (commit: Commit) => Commit): NonNullable<ServerOptions["open"]> =>
  async (configuration) => {
    const opened = await openStore(configuration);
    const { ledger } = opened.store;
    const commit = wrap((writes) => ledger.commit(writes));
    return { ...opened, store: { ...opened.store, ledger: { ...ledger, commit } } };
  };

/** Commits are done at once, and reported as done when the test says so. */
export class CommitGate {
  readonly #waiting: (() => void)[] = [];
  isOpen = true;

  readonly wrap =
    (commit: Commit): Commit =>
    async (writes) => {
      await commit(writes);
      if (!this.isOpen && writes.length > 0)
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
    };

  get waiting(): number {
    return this.#waiting.length;
  }

  open(): void {
    this.isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
