/** Below this, two numbers add up without loss. */
const exactBelow = 2 ** 52;

/** A sum of nano-USD that is exact and, unlike one of bigints, makes no garbage for each addition. */
export class NanoSum {
  #low = 0;
  #high = 0n;

  add(nano: bigint): void {
    const value = Number(nano);
    if (value >= exactBelow) {
      this.#high += nano;
      return;
    }
    this.#low += value;
    if (this.#low < exactBelow) return;
    this.#high += BigInt(this.#low);
    this.#low = 0;
  }

  get nano(): bigint {
    return this.#high + BigInt(this.#low);
  }
}
