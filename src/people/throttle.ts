/** How often something may fail: at once, and then once every so often. */
export interface ThrottleLimit {
  readonly burst: number;
  readonly everyMs: number;
}

/**
 * When the failures of a name are forgotten at the latest. A later end is from before the clock was
 * set back, and would lock out its name until the clock is there again.
 */
export const latestEndMs = ({ burst, everyMs }: ThrottleLimit, nowMs: number): number =>
  nowMs + burst * everyMs;

/** What is remembered at most; the longest unseen is forgotten first. */
const mostNames = 10_000;

/** Counts failures by name, and says how long one has to wait before the next try. */
export class Throttle {
  readonly #limit: ThrottleLimit;
  /** When all failures of a name will be forgotten. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(limit: ThrottleLimit) {
    this.#limit = limit;
  }

  /** Zero when a try is let through. */
  waitMs(name: string, nowMs: number): number {
    const { burst, everyMs } = this.#limit;
    const latestMs = latestEndMs(this.#limit, nowMs);
    const fullAtMs = this.#fullAtMs.get(name) ?? nowMs;
    if (fullAtMs > latestMs) this.#fullAtMs.set(name, latestMs);
    return Math.max(0, Math.min(fullAtMs, latestMs) - nowMs - (burst - 1) * everyMs);
  }

  /** Said before a try is looked at, so that many at once count each. */
  count(name: string, nowMs: number): void {
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? nowMs, nowMs) + this.#limit.everyMs;
    this.#fullAtMs.delete(name);
    this.#fullAtMs.set(name, fullAtMs);
    if (this.#fullAtMs.size <= mostNames) return;
    const oldest = this.#fullAtMs.keys().next();
    if (oldest.done !== true) this.#fullAtMs.delete(oldest.value);
  }

  /** For one that was counted and did not fail; what others of the name did stays counted. */
  giveBack(name: string): void {
    const fullAtMs = this.#fullAtMs.get(name);
    if (fullAtMs !== undefined) this.#fullAtMs.set(name, fullAtMs - this.#limit.everyMs);
  }

  forget(name: string): void {
    this.#fullAtMs.delete(name);
  }
}

/**
 * What stands for an address where tries are counted. Whoever has one address of IPv6 has all
 * 2^64 of its network, so the first half alone counts.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const ipv4 = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}

const groupsOf = (text: string) =>
  text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16).toString(16));
