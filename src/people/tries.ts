import { Throttle, type ThrottleLimit } from "./throttle.ts";

export const tryKinds = [
  "pair",
  "network",
  "spread",
  "device",
  "session",
  "code",
  "device-code",
  "logout",
] as const;
export type TryKind = (typeof tryKinds)[number];

/** One count among others of its kind. */
export interface Try {
  readonly kind: TryKind;
  readonly name: string;
}

const minuteMs = 60_000;

export const tryLimits: Readonly<Record<TryKind, ThrottleLimit>> = {
  /** Of one person from one network. */
  pair: { burst: 10, everyMs: minuteMs },
  /** Of all users from one network. */
  network: { burst: 50, everyMs: 20_000 },
  /** Of one person from everywhere: against guessing that is spread over many networks. */
  spread: { burst: 100, everyMs: 10_000 },
  /** Of one browser that its person has signed in with before. */
  device: { burst: 30, everyMs: minuteMs },
  /** Of the current password, by a signed-in user. */
  session: { burst: 10, everyMs: minuteMs },
  /**
   * Of the codes of one person, by whoever knows the password: three of a million are right, so
   * guessing for a year finds one with one chance in four.
   */
  code: { burst: 10, everyMs: 5 * minuteMs },
  /** The same for one browser that its person has signed in with before. */
  "device-code": { burst: 10, everyMs: 5 * minuteMs },
  /** Of logout tokens from one network that the identity provider did not sign. */
  logout: { burst: 50, everyMs: 20_000 },
};

/** Counts failures. Kept in memory, or by a store where several processes sign people in. */
export interface TryCounter {
  /** How long one has to wait; zero when a try would be let through. */
  waitMs(one: Try, nowMs: number): Promise<number>;
  /**
   * Counts a try of each, all at once and before it is looked at, so that many at once count each:
   * zero. Or counts none, and gives how long to wait.
   */
  count(tries: readonly Try[], nowMs: number): Promise<number>;
  /** It did not fail: all of these names is forgotten, and of those one try is given back. */
  succeed(options: {
    readonly forget: readonly Try[];
    readonly giveBack: readonly Try[];
  }): Promise<void>;
}

/** For a process that signs people in alone. */
export class TriesInMemory implements TryCounter {
  readonly #throttles = new Map(tryKinds.map((kind) => [kind, new Throttle(tryLimits[kind])]));

  async waitMs(one: Try, nowMs: number): Promise<number> {
    return this.#waitMs(one, nowMs);
  }

  /** In one turn: what is looked at is what is counted. */
  async count(tries: readonly Try[], nowMs: number): Promise<number> {
    const waitMs = Math.max(...tries.map((one) => this.#waitMs(one, nowMs)));
    if (waitMs === 0)
      for (const { kind, name } of tries) this.#throttles.get(kind)?.count(name, nowMs);
    return waitMs;
  }

  async succeed({ forget, giveBack }: Parameters<TryCounter["succeed"]>[0]): Promise<void> {
    for (const { kind, name } of forget) this.#throttles.get(kind)?.forget(name);
    for (const { kind, name } of giveBack) this.#throttles.get(kind)?.giveBack(name);
  }

  #waitMs({ kind, name }: Try, nowMs: number): number {
    return this.#throttles.get(kind)?.waitMs(name, nowMs) ?? 0;
  }
}
