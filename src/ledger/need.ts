import { dearestInput, type Price, unitPrice } from "../call/price.ts";

/** The most that a call may use of what is known before it is made. */
export interface NeedUnits {
  /** Tokens, each at the dearest price of input. */
  readonly input?: number;
  /** How many answers of the cap's length; 0 where the answer has no tokens. */
  readonly choices?: number;
  /** Tokens. */
  readonly audio?: number;
  readonly image?: number;
  /** Seconds. */
  readonly video?: number;
  /** Seconds of audio that a model listens to. */
  readonly audioSeconds?: number;
}

/** The most that a call can cost, before it is made. */
export interface Need {
  readonly units: NeedUnits;
  /** Of what is known: units × price, in nano-USD per million. */
  readonly fixed: bigint;
  /** Of one token of the answer (of all choices together), in the same measure; 0 without a cap. */
  readonly perToken: bigint;
  /** How long the answer may become. */
  readonly cap: number;
  /** The caller named the cap: it is his word, and is not lowered. */
  readonly isCapNamed: boolean;
}

/** What a hold is made of: ⌈Σ part × price ÷ 10⁶⌉, by the price version of its receipt. */
export interface HoldParts {
  readonly input: number;
  /** Of all choices together. */
  readonly output: number;
  readonly audio: number;
  readonly image: number;
  readonly video: number;
  /** Absent where a call has no audio to listen to: the receipts of before have none either. */
  readonly audioSeconds?: number;
}

export function needOf(options: {
  readonly units: NeedUnits;
  readonly price: Price;
  readonly cap?: number;
  readonly isCapNamed?: boolean;
}): Need {
  const { units, price, cap = 0, isCapNamed = true } = options;
  return {
    units,
    fixed: weighed(holdParts(units, 0), price),
    perToken: BigInt(units.choices ?? 0) * unitPrice(price, "output"),
    cap,
    isCapNamed,
  };
}

/** What is held when the answer may become so long. */
export function holdParts(units: NeedUnits, cap: number): HoldParts {
  const { input = 0, choices = 0, audio = 0, image = 0, video = 0, audioSeconds = 0 } = units;
  const parts = { input, output: choices * cap, audio, image, video };
  return audioSeconds === 0 ? parts : { ...parts, audioSeconds };
}

/** What a hold of these parts is, by a price. */
export function holdOf(parts: HoldParts, price: Price): bigint {
  return roundedUp(weighed(parts, price));
}

function weighed(parts: HoldParts, price: Price): bigint {
  const { input, output, audio, image, video, audioSeconds = 0 } = parts;
  return (
    BigInt(input) * dearestInput(price) +
    (output === 0 ? 0n : BigInt(output) * unitPrice(price, "output")) +
    (audio === 0 ? 0n : BigInt(audio) * unitPrice(price, "audio_output")) +
    (image === 0 ? 0n : BigInt(image) * unitPrice(price, "image")) +
    (video === 0 ? 0n : BigInt(video) * unitPrice(price, "video_second")) +
    (audioSeconds === 0 ? 0n : BigInt(audioSeconds) * unitPrice(price, "audio_second"))
  );
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
  return roundedUp(fixed + perToken * BigInt(cap));
}

/** What must be covered at the very least: of an answer whose length the caller did not name, the floor. */
export function leastCase(need: Need): bigint {
  const { cap, isCapNamed } = need;
  return worstCase(need, isCapNamed ? cap : Math.min(cap, floorTokens));
}

const roundedUp = (millionths: bigint) => (millionths + million - 1n) / million;

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
