/** How long a failure is remembered against the account that had it. */
const withinMs = 30_000;
/** A success of another account is news for this long. */
const newsMs = 10_000;

/**
 * Whose calls fail at one target.
 *
 * An upstream that answers 500 may be broken, or it may have been sent something that it cannot
 * read. One account's inputs must not take a target from everybody, so failures that an input can
 * cause count against the target only when a second account has them too.
 *
 * One account is remembered, the suspect; of all others only when they last failed; and the last two
 * accounts that were served. Nothing here grows with the number of accounts, and a success costs two
 * comparisons.
 */
export class Suspect {
  #accountId: string | undefined;
  #failedMs = 0;
  #othersFailedMs = 0;
  #othersServedMs = 0;
  #servedId: string | undefined;
  #servedMs = 0;
  /** When another account than the last one was served. */
  #formerMs = 0;

  clear(): void {
    this.#accountId = undefined;
    this.#othersFailedMs = 0;
    this.#othersServedMs = 0;
    this.#servedId = undefined;
    this.#formerMs = 0;
  }

  is(accountId: string): boolean {
    return accountId === this.#accountId;
  }

  fail(accountId: string, nowMs: number): void {
    if (accountId !== this.#accountId) {
      const isRecent = this.#accountId !== undefined && nowMs - this.#failedMs <= withinMs;
      if (isRecent) {
        this.#othersFailedMs = nowMs;
        return;
      }
      this.#accountId = accountId;
      this.#othersFailedMs = 0;
      this.#othersServedMs = 0;
    }
    this.#failedMs = nowMs;
  }

  succeed(accountId: string, nowMs: number): void {
    if (accountId !== this.#accountId) this.#othersServedMs = nowMs;
    if (accountId !== this.#servedId) {
      this.#formerMs = this.#servedId === undefined ? 0 : this.#servedMs;
      this.#servedId = accountId;
    }
    this.#servedMs = nowMs;
  }

  /** Two accounts have failed recently: it is not the input of one of them. */
  isShared(nowMs: number): boolean {
    return this.#othersFailedMs !== 0 && nowMs - this.#othersFailedMs <= withinMs;
  }

  /** Others were served while the suspect failed: the target works. */
  isRefuted(nowMs: number): boolean {
    return this.#othersServedMs !== 0 && nowMs - this.#othersServedMs <= newsMs;
  }

  /** Others than the suspect were served a moment ago, if only before it failed. */
  servesOthers(nowMs: number): boolean {
    const isSuspect = this.#servedId === this.#accountId;
    const othersMs = isSuspect ? this.#formerMs : this.#servedId === undefined ? 0 : this.#servedMs;
    return othersMs !== 0 && nowMs - othersMs <= newsMs;
  }
}
