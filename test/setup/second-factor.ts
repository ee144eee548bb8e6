import { totpCode, totpStep } from "../../src/people/factors/totp.ts";
import { type Answer, nobody, password, type Visitor, visitor } from "./platform-home.ts";

/** A clock that tests move: each code of an app works once, so the next one needs another time. */
export class TestClock {
  ms = Date.now();

  nowMs(): number {
    return this.ms;
  }

  elapsedMs(): number {
    return this.ms;
  }

  /** To the next time step. */
  next(): void {
    this.ms += 30_000;
  }
}

export const cookieOf = ({ response }: Answer, name: string): string =>
  response.headers
    .getSetCookie()
    .find((text) => text.startsWith(`${name}=`))
    ?.split(";")[0] ?? "";

/** An authenticator app. */
export class App {
  readonly #secret: string;
  readonly #clock: TestClock;

  constructor(secret: string, clock: TestClock) {
    this.#secret = secret;
    this.#clock = clock;
  }

  code(stepsAway = 0): string {
    return totpCode(this.#secret, totpStep(this.#clock.nowMs()) + stepsAway);
  }
}

export interface WithApp {
  readonly app: App;
  readonly recoveryCodes: readonly string[];
}

export async function addApp(who: Visitor, clock: TestClock): Promise<WithApp> {
  const { body: setup } = await who.ask("POST /api/me/totp/setup");
  const app = new App(setup.secret, clock);
  const body = { ticket: setup.ticket, code: app.code() };
  const { status, body: added } = await who.ask("POST /api/me/totp", { body });
  if (status !== 200) throw new Error(JSON.stringify(added));
  clock.next();
  return { app, recoveryCodes: added.recovery_codes ?? [] };
}

/** The first step, with the right password; then the second one, as often as one likes. */
export async function firstStep(platformUrl: string, email: string, who = nobody(platformUrl)) {
  const first = await who.ask("POST /api/session", { body: { email, password } });
  const cookie = cookieOf(first, "svc_sign_in");
  const { ticket, ...rest } = first.body.second_factor ?? {};
  return {
    first,
    cookie,
    ticket: ticket as string,
    factor: rest,
    finish: (answer: object, headers: Readonly<Record<string, string>> = { cookie }) =>
      who.ask("POST /api/session/second-step", { body: { ticket, ...answer }, headers }),
  };
}

/** Who a reply has signed in. */
export const signedIn = (platformUrl: string, answer: Answer): Visitor =>
  visitor(platformUrl, { cookie: cookieOf(answer, "svc_session") });
