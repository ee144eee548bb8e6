import { Problem } from "../base/problem.ts";
import { TriesInMemory, type Try, type TryCounter } from "./tries.ts";

const minuteMs = 60_000;

export interface Attempt {
  readonly email: string;
  /** Undefined: the user is signed in. */
  readonly network: string | undefined;
  /** A browser that this very person has signed in with before. */
  readonly device: string | undefined;
  /** Whether the person is signed in from this network: only asked where it matters. */
  readonly isUsualNetwork: () => Promise<boolean>;
}

export interface CodeAttempt extends Pick<Attempt, "network" | "device"> {
  readonly userId: string;
}

/** To be called when the password was right. */
export type OnSuccess = () => Promise<void>;

/**
 * How many wrong passwords are looked at. Whoever knows an email address can fail with it, so no
 * failure may keep its person out: failures count where they come from. Spread over many networks
 * they also count together, but then only networks that the person does not use have to wait.
 * A browser that has signed in before has its own count, which other clients cannot use up.
 */
export class SignInLimits {
  readonly #counter: TryCounter;

  constructor(counter: TryCounter = new TriesInMemory()) {
    this.#counter = counter;
  }

  /** Counts an attempt before it is looked at, so that many at once count each; or refuses it. */
  async admit(attempt: Attempt, nowMs: number): Promise<OnSuccess> {
    const { email, network, device } = attempt;
    if (network === undefined) {
      const forget: readonly Try[] = [{ kind: "session", name: email }];
      return this.#admit({ forget, giveBack: [] }, nowMs);
    }
    if (device !== undefined) {
      const forget: readonly Try[] = [{ kind: "device", name: device }];
      if ((await this.#counter.count(forget, nowMs)) === 0)
        return () => this.#counter.succeed({ forget, giveBack: [] });
    }
    const spread: Try = { kind: "spread", name: email };
    const isUsual =
      (await this.#counter.waitMs(spread, nowMs)) > 0 && (await attempt.isUsualNetwork());
    return this.#admit(
      {
        forget: [{ kind: "pair", name: `${network} ${email}` }],
        giveBack: [{ kind: "network", name: network }, ...(isUsual ? [] : [spread])],
      },
      nowMs,
    );
  }

  /**
   * Counts an attempt at the second step. Only those who know the password get here, and their
   * failures count together wherever they come from; a browser of the person has its own count.
   * Success gives back one attempt alone: it must not clear the failures of somebody else.
   */
  admitCode({ userId, network, device }: CodeAttempt, nowMs: number): Promise<OnSuccess> {
    const own: Try =
      device === undefined ? { kind: "code", name: userId } : { kind: "device-code", name: device };
    const giveBack =
      network === undefined ? [own] : [own, { kind: "network", name: network } as const];
    return this.#admit({ forget: [], giveBack }, nowMs);
  }

  /** Counts an attempt of a visitor who has not said who they are. */
  admitVisitor(network: string, nowMs: number): Promise<OnSuccess> {
    return this.#admit({ forget: [], giveBack: [{ kind: "network", name: network }] }, nowMs);
  }

  /**
   * Refuses logout tokens from a network that has sent too many wrong ones. Only wrong ones count,
   * after they are checked: a provider that signs out all its users at once must not have to wait.
   */
  async checkLogout(network: string, nowMs: number): Promise<void> {
    const waitMs = await this.#counter.waitMs({ kind: "logout", name: network }, nowMs);
    if (waitMs > 0) throw new TooManyTries(waitMs);
  }

  /** Counts a wrong logout token; or refuses it, where many at once were more than the limit. */
  async countLogout(network: string, nowMs: number): Promise<void> {
    const waitMs = await this.#counter.count([{ kind: "logout", name: network }], nowMs);
    if (waitMs > 0) throw new TooManyTries(waitMs);
  }

  async #admit(
    tries: { readonly forget: readonly Try[]; readonly giveBack: readonly Try[] },
    nowMs: number,
  ): Promise<OnSuccess> {
    const waitMs = await this.#counter.count([...tries.forget, ...tries.giveBack], nowMs);
    if (waitMs > 0) throw new TooManyTries(waitMs);
    return () => this.#counter.succeed(tries);
  }
}

export class TooManyTries extends Problem {
  readonly waitMs: number;

  constructor(waitMs: number) {
    const minutes = Math.ceil(waitMs / minuteMs);
    super({
      code: "busy",
      message: `Too many failed attempts. Try again in ${minutes === 1 ? "1 minute" : `${minutes} minutes`}.`,
    });
    this.waitMs = waitMs;
  }
}
