import { Problem } from "../base/problem.ts";
import { Throttle } from "./throttle.ts";

const minuteMs = 60_000;

/** Of one person from one network. */
const pairLimit = { burst: 10, everyMs: minuteMs };
/** Of all users from one network. */
const networkLimit = { burst: 50, everyMs: 20_000 };
/** Of one person from everywhere: against guessing that is spread over many networks. */
const spreadLimit = { burst: 100, everyMs: 10_000 };
/** Of one browser that its person has signed in with before. */
const deviceLimit = { burst: 30, everyMs: minuteMs };
/** Of the current password, by a signed-in user. */
const sessionLimit = { burst: 10, everyMs: minuteMs };

export interface Attempt {
  readonly email: string;
  /** Undefined: the user is signed in. */
  readonly network: string | undefined;
  /** A browser that this very person has signed in with before. */
  readonly device: string | undefined;
  /** Whether the person is signed in from this network: only asked where it matters. */
  readonly isUsualNetwork: () => Promise<boolean>;
}

/** To be called when the password was right. */
type OnSuccess = () => void;

/**
 * How many wrong passwords are looked at. Whoever knows an email address can fail with it, so no
 * failure may keep its person out: failures count where they come from. Spread over many networks
 * they also count together, but then only networks that the person does not use have to wait.
 * A browser that has signed in before has its own count, which other clients cannot use up.
 */
export class SignInLimits {
  readonly #pairs = new Throttle(pairLimit);
  readonly #networks = new Throttle(networkLimit);
  readonly #spread = new Throttle(spreadLimit);
  readonly #devices = new Throttle(deviceLimit);
  readonly #sessions = new Throttle(sessionLimit);

  /** Counts an attempt before it is looked at, so that many at once count each; or refuses it. */
  async admit(attempt: Attempt, nowMs: number): Promise<OnSuccess> {
    const { email, network, device } = attempt;
    if (network === undefined) return alone(this.#sessions, email, nowMs);
    if (device !== undefined && this.#devices.waitMs(device, nowMs) === 0)
      return alone(this.#devices, device, nowMs);
    const isUsual = this.#spread.waitMs(email, nowMs) > 0 && (await attempt.isUsualNetwork());
    const pair = `${network} ${email}`;
    // From here on in one turn: what is looked at is what is counted.
    const waitMs = Math.max(
      this.#pairs.waitMs(pair, nowMs),
      this.#networks.waitMs(network, nowMs),
      isUsual ? 0 : this.#spread.waitMs(email, nowMs),
    );
    if (waitMs > 0) throw new TooManyTries(waitMs);
    this.#pairs.count(pair, nowMs);
    this.#networks.count(network, nowMs);
    if (!isUsual) this.#spread.count(email, nowMs);
    return () => {
      this.#pairs.forget(pair);
      this.#networks.giveBack(network);
      if (!isUsual) this.#spread.giveBack(email);
    };
  }
}

function alone(throttle: Throttle, name: string, nowMs: number): OnSuccess {
  const waitMs = throttle.waitMs(name, nowMs);
  if (waitMs > 0) throw new TooManyTries(waitMs);
  throttle.count(name, nowMs);
  return () => throttle.forget(name);
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
