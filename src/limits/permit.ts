/** A place among the running requests of an owner. */
export interface Place {
  leave(): void;
}

/** A rate that tokens were taken from. */
export interface SettledRate {
  /** Settles what was taken to the truth; the difference is truth − taken. */
  adjust(difference: number, nowMs: number): void;
}

/**
 * Leave to call. It remembers the rates that tokens were taken from: limits may come and go while
 * the call runs, and only what was taken is settled.
 */
export class Permit {
  #tokens = 0;
  #keyTokens: SettledRate | undefined;
  #accountTokens: SettledRate | undefined;
  readonly #key: Place | undefined;
  readonly #account: Place | undefined;
  #isOpen = true;

  constructor(key: Place | undefined, account: Place | undefined) {
    this.#key = key;
    this.#account = account;
  }

  keep(
    tokens: number,
    keyTokens: SettledRate | undefined,
    accountTokens: SettledRate | undefined,
  ): void {
    this.#tokens = tokens;
    this.#keyTokens = keyTokens;
    this.#accountTokens = accountTokens;
  }

  /** Gives the place back and settles the tokens. A second time does nothing. */
  close(actualTokens: number, nowMs: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#key?.leave();
    this.#account?.leave();
    const difference = actualTokens - this.#tokens;
    this.#keyTokens?.adjust(difference, nowMs);
    this.#accountTokens?.adjust(difference, nowMs);
  }
}

/** Shared by all requests without any limit. */
export const unlimited = new Permit(undefined, undefined);
