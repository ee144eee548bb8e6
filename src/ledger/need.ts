/** The most that a call can cost, before it is made. */
export interface Need {
  /** Of what is known: units × price, in nano-USD per million. */
  readonly fixed: bigint;
  /** Of one token of the answer (of all choices together), in the same measure; 0 without a cap. */
  readonly perToken: bigint;
  /** How long the answer may become. */
  readonly cap: number;
  /** The caller named the cap: it is his word, and is not lowered. */
  readonly isCapNamed: boolean;
}

export interface Cover {
  readonly nano: bigint;
  readonly cap: number;
}

/** An answer shorter than this is of no use. */
export const floorTokens = 256;

const million = 1_000_000n;

/** The worst case in nano-USD, rounded up as a receipt is. */
export function worstCase({ fixed, perToken }: Need, cap: number): bigint {
  return (fixed + perToken * BigInt(cap) + million - 1n) / million;
}

/**
 * What to hold for a call out of what is free. Where the caller named no cap and the whole is not
 * covered, the answer is made shorter: to what half of the free money pays for, or at the very
 * least the floor. Undefined: the worst case is not covered.
 */
export function cover(need: Need, free: bigint): Cover | undefined {
  const whole = worstCase(need, need.cap);
  // What costs nothing is covered by nothing, and by less than nothing.
  if (whole <= free || whole === 0n) return { nano: whole, cap: need.cap };
  if (need.isCapNamed || need.perToken === 0n || need.cap <= floorTokens) return undefined;
  const forOutput = (free / 2n) * million - need.fixed;
  const affordable = forOutput > 0n ? Number(forOutput / need.perToken) : 0;
  const cap = Math.min(need.cap, Math.max(floorTokens, affordable));
  const nano = worstCase(need, cap);
  return nano <= free ? { nano, cap } : undefined;
}
