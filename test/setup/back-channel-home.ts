import { afterAll, beforeAll, beforeEach } from "bun:test";
import {
  type Lie,
  type LyingProvider,
  lyingClient,
  startLyingProvider,
} from "../fake/lying-provider.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";
import { type Answer, freePort, nobody, type Visitor } from "./platform-home.ts";
import { cookieOf, signedIn, TestClock } from "./second-factor.ts";

/** A platform with an identity provider that sends logout tokens. */
export interface BackChannelHome {
  readonly clock: TestClock;
  readonly provider: LyingProvider;
  readonly gateway: TestGateway;
  /** What the platform has logged, at the level warn and above. */
  readonly lines: string[];
  /** Begins a sign-in, later than all that was before; what it returns completes it. */
  begin(): Promise<() => Promise<Answer>>;
  signIn(): Promise<Visitor>;
  send(form: Readonly<Record<string, string>>): Promise<Sent>;
  /** Sends a logout token of this kind. */
  report(lie?: Lie): Promise<Sent>;
  /** Signed as the lie says, and not sent. */
  token(lie?: Lie): Promise<string>;
  stop(): Promise<void>;
}

interface Sent {
  readonly status: number;
  readonly message: string | undefined;
  readonly headers: Headers;
}

export const backChannel = "/api/session/oidc/back-channel";

export const isSignedIn = async (who: Visitor): Promise<boolean> =>
  (await who.ask("GET /api/me/sessions")).status === 200;

/** One user is signed in through the provider. */
interface UsedBackChannelHome extends BackChannelHome {
  isIn(): Promise<boolean>;
  signInAgain(): Promise<void>;
}

/**
 * One home for all tests of a file. Before each of them an hour passes and a user signs in: keys and
 * descriptions are read again, failures are forgotten, and each kind of failure is logged again. It
 * can be named before it has started.
 */
export function useBackChannelHome(): UsedBackChannelHome {
  const held: { home?: BackChannelHome; who?: Visitor } = {};
  const home = () => {
    if (held.home === undefined) throw new Error("the home has not started");
    return held.home;
  };
  const user = {
    isIn: async () => held.who !== undefined && (await isSignedIn(held.who)),
    async signInAgain() {
      held.who = await home().signIn();
    },
  };
  beforeAll(async () => {
    held.home = await startBackChannelHome();
  });
  beforeEach(async () => {
    home().clock.ms += 3_600_000;
    await user.signInAgain();
    home().lines.length = 0;
  });
  afterAll(() => held.home?.stop());
  return new Proxy({} as UsedBackChannelHome, {
    get: (_, name: keyof UsedBackChannelHome) =>
      name === "isIn" || name === "signInAgain" ? user[name] : home()[name],
  });
}

export async function startBackChannelHome(
  environment: Readonly<Record<string, string>> = {},
): Promise<BackChannelHome> {
  const clock = new TestClock();
  const lines: string[] = [];
  const provider = await startLyingProvider(freePort(), clock);
  const gateway = await startTestGateway({
    clock,
    writeLog: (line) => lines.push(line),
    environment: {
      SVC_LOG_LEVEL: "warn",
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: lyingClient,
      SVC_OIDC_ROLES: "team=test:developer",
      ...environment,
    },
  });
  async function send(form: Readonly<Record<string, string>>): Promise<Sent> {
    const body = new URLSearchParams(form);
    const reply = await fetch(`${gateway.platformUrl}${backChannel}`, { method: "POST", body });
    const { error } = (await reply.json()) as { readonly error?: { readonly message: string } };
    return { status: reply.status, message: error?.message, headers: reply.headers };
  }
  async function begin() {
    clock.ms += 1;
    const begun = await nobody(gateway.platformUrl).ask("POST /api/session/oidc");
    if (begun.status !== 200) return async () => begun;
    const { url, ticket } = begun.body;
    const search = provider.answer(url);
    return () =>
      nobody(gateway.platformUrl).ask("POST /api/session/oidc/finish", {
        body: { ticket, search },
        headers: { cookie: cookieOf(begun, "svc_sign_in") },
      });
  }
  const token = (lie: Lie = {}) => {
    provider.lie = lie;
    return provider.logoutToken();
  };
  return {
    clock,
    provider,
    gateway,
    lines,
    begin,
    async signIn() {
      provider.lie = {};
      return signedIn(gateway.platformUrl, await (await begin())());
    },
    send,
    token,
    report: async (lie) => send({ logout_token: await token(lie) }),
    async stop() {
      await gateway.stop();
      await provider.stop();
    },
  };
}
