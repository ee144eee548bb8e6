import { invalid, Problem } from "../base/problem.ts";

export interface PasswordCost {
  /** In KiB. */
  readonly memoryCost: number;
  readonly timeCost: number;
}

/** 19 MB and two rounds, as is advised for servers: about 60 ms per password. */
const serverCost: PasswordCost = { memoryCost: 19_456, timeCost: 2 };
export const shortestPassword = 10;
const longestPassword = 200;
/** Each takes a core for a while: more at once would slow down the calls of the gateway. */
const mostAtOnce = 2;
const mostWaiting = 32;

interface Check {
  readonly password: string;
  /** Undefined: the user does not exist. */
  readonly hash: string | undefined;
  /** Whether the user is signed in or has signed in before. */
  readonly isKnown: boolean;
}

/**
 * Hashes and checks passwords, a few at a time; who comes when too many wait is sent away. Those
 * who are known wait in a line of their own, which goes first: a flood of strangers must not keep
 * people from signing in.
 */
export class Passwords {
  #running = 0;
  readonly #known: (() => void)[] = [];
  readonly #strangers: (() => void)[] = [];
  #nobodys: Promise<string> | undefined;
  readonly #cost: PasswordCost;

  constructor(cost: PasswordCost = serverCost) {
    this.#cost = cost;
  }

  hash(password: string): Promise<string> {
    const cost = { algorithm: "argon2id", ...this.#cost } as const;
    return this.#inTurn(this.#known, () => Bun.password.hash(password, cost));
  }

  /** Takes the same time for unknown users, so that timing does not reveal known emails. */
  async verify({ password, hash, isKnown }: Check): Promise<boolean> {
    const nobodys = this.#nobodysHash();
    const against = hash ?? (await nobodys);
    if (password.length > longestPassword) return false;
    const line = isKnown ? this.#known : this.#strangers;
    const isRight = await this.#inTurn(line, () => Bun.password.verify(password, against));
    return isRight && hash !== undefined;
  }

  #nobodysHash(): Promise<string> {
    if (this.#nobodys === undefined) {
      const made = this.hash(crypto.randomUUID());
      this.#nobodys = made;
      // Also where nobody waits for it: at the next try it is made anew.
      made.catch(() => {
        this.#nobodys = undefined;
      });
    }
    return this.#nobodys;
  }

  async #inTurn<T>(line: (() => void)[], work: () => Promise<T>): Promise<T> {
    if (this.#running >= mostAtOnce) {
      if (line.length >= mostWaiting)
        throw new Problem({
          code: "busy",
          message: "Too many sign-ins at the moment. Try again in a minute.",
        });
      await new Promise<void>((resolve) => line.push(resolve));
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#known.shift() ?? this.#strangers.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

export function checkPassword(password: string, email: string): void {
  if (password.length < shortestPassword || password.length > longestPassword)
    throw invalid({
      password: `The password must be ${shortestPassword} to ${longestPassword} characters long.`,
    });
  if (password.toLowerCase() === email || new Set(password).size < 4)
    throw invalid({
      password: "The password must not be your email address or a few repeated characters.",
    });
}
