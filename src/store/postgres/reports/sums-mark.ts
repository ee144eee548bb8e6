/** A commit of receipts in flight. */
export interface OpenHour {
  /**
   * What the commit has to lower `epochs.open_from_ms` to, in its own transaction; undefined where
   * it is as low already.
   */
  readonly lowerToMs: number | undefined;
  /** The commit stands, and its receipts are in the sums in memory. */
  added(): void;
  /** The commit is rolled back for good. */
  dropped(): void;
}

/**
 * From which hour on the stored sums of this process may lack receipts, as far as this process
 * knows: the database has this hour or an earlier one. Whoever commits receipts opens their oldest
 * hour before and says when they are added up, in the same turn of the event loop; until then the
 * mark does not rise above it. So a crash at any moment leaves a mark that is low enough.
 */
export class SumsMark {
  #knownMs: number | undefined;
  #pinnedMs: number | undefined;
  readonly #open = new Set<{ readonly hourMs: number }>();

  /** Of the oldest receipt of a commit. */
  open(hourMs: number): OpenHour {
    const hour = { hourMs };
    this.#open.add(hour);
    const isLow = this.#knownMs !== undefined && this.#knownMs <= hourMs;
    return {
      lowerToMs: isLow ? undefined : hourMs,
      added: () => {
        this.#open.delete(hour);
        if (!isLow) this.#knownMs = Math.min(this.#knownMs ?? hourMs, hourMs);
      },
      dropped: () => void this.#open.delete(hour),
    };
  }

  /** The mark does not rise above this hour until it is unpinned. */
  pin(hourMs: number): void {
    this.#pinnedMs = Math.min(this.#pinnedMs ?? hourMs, hourMs);
  }

  unpin(): void {
    this.#pinnedMs = undefined;
  }

  /** What it is to be set to, and from what. */
  move(toMs: number | undefined): {
    readonly fromMs: number | undefined;
    readonly toMs: number | undefined;
  } {
    let lowestMs = toMs;
    const held = [...this.#open].map(({ hourMs }) => hourMs);
    if (this.#pinnedMs !== undefined) held.push(this.#pinnedMs);
    for (const hourMs of held) if (lowestMs === undefined || hourMs < lowestMs) lowestMs = hourMs;
    const fromMs = this.#knownMs;
    // The higher one of both, until the database has answered.
    if (fromMs !== undefined && (lowestMs === undefined || lowestMs > fromMs))
      this.#knownMs = lowestMs;
    return { fromMs, toMs: lowestMs };
  }

  /** As the database has it. */
  moved(knownMs: number | undefined): void {
    this.#knownMs = knownMs;
  }
}
