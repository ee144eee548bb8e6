import {
  type AskOptions,
  idOf,
  nobody,
  password,
  type Visitor,
} from "../../setup/platform-home.ts";
import { addApp, cookieOf, firstStep, TestClock } from "../../setup/second-factor.ts";
import { SoftAuthenticator } from "../../setup/soft-authenticator.ts";

export interface Change extends AskOptions {
  readonly who: Visitor;
  readonly action: string;
  readonly actor?: string;
}

/** One successful use of every route that changes something. */
export type Changes = Readonly<Record<string, () => Promise<Change>>>;

export interface Stage {
  readonly platformUrl: () => string;
  readonly operator: () => Visitor;
  readonly newMember: (email: string) => Promise<Visitor>;
}

const newEmail = () => `${crypto.randomUUID()}@example.com`;

/** People with an app or with a passkey. */
function peopleOf({ platformUrl, newMember }: Stage) {
  const local = () => platformUrl().replace("127.0.0.1", "localhost");
  const headers = () => ({ origin: local(), host: new URL(local()).host });
  const withPasskey = async () => {
    const email = newEmail();
    const who = await newMember(email);
    const passkey = new SoftAuthenticator(local());
    const { body: setup } = await who.ask("POST /api/me/passkeys/setup", { headers: headers() });
    const response = passkey.create(setup.options);
    const body = { ticket: setup.ticket, name: "Phone", response };
    return { who, email, passkey, add: { body, headers: headers() } };
  };
  return {
    headers,
    withPasskey,
    async withAddedPasskey() {
      const one = await withPasskey();
      await one.who.ask("POST /api/me/passkeys", one.add);
      return { ...one, params: { id: one.passkey.id } };
    },
    async withApp() {
      const email = newEmail();
      const who = await newMember(email);
      return { who, email, ...(await addApp(who, new TestClock())) };
    },
  };
}

/** One successful use of every route of second factors that changes something. */
export function factorChanges(stage: Stage): Changes {
  const { platformUrl, operator, newMember } = stage;
  const { headers, withPasskey, withAddedPasskey, withApp } = peopleOf(stage);
  return {
    "DELETE /api/me/sessions": async () => {
      const email = newEmail();
      const who = await newMember(email);
      await nobody(platformUrl()).ask("POST /api/session", { body: { email, password } });
      return { who, action: "session.end_others" };
    },
    "POST /api/session/second-step": async () => {
      const { email, recoveryCodes } = await withApp();
      const { ticket, cookie } = await firstStep(platformUrl(), email);
      const body = { ticket, code: recoveryCodes[0] };
      const who = nobody(platformUrl());
      return { who, action: "session.begin", actor: email, body, headers: { cookie } };
    },
    "POST /api/session/passkey": async () => {
      const { email, passkey } = await withAddedPasskey();
      const who = nobody(platformUrl());
      const asked = await who.ask("POST /api/session/passkey-options", { headers: headers() });
      const cookie = cookieOf(asked, "svc_sign_in");
      const body = { ticket: asked.body.ticket, passkey: passkey.get(asked.body.options) };
      const given = { body, headers: { ...headers(), cookie } };
      return { who, action: "session.begin", actor: email, ...given };
    },
    "POST /api/me/verify": async () => ({
      who: await newMember(newEmail()),
      action: "session.verify",
      body: { password },
    }),
    "POST /api/me/totp": async () => {
      const who = await newMember(newEmail());
      const { body: setup } = await who.ask("POST /api/me/totp/setup");
      const { totpCode, totpStep } = await import("../../../src/people/factors/totp.ts");
      const code = totpCode(setup.secret, totpStep(Date.now()));
      return { who, action: "factor.add", body: { ticket: setup.ticket, code } };
    },
    "DELETE /api/me/totp": async () => ({ who: (await withApp()).who, action: "factor.remove" }),
    "POST /api/me/recovery-codes": async () => ({
      who: (await withApp()).who,
      action: "factor.codes",
    }),
    "POST /api/me/passkeys": async () => {
      const { who, add } = await withPasskey();
      return { who, action: "passkey.add", ...add };
    },
    "PATCH /api/me/passkeys/:id": async () => {
      const { who, params } = await withAddedPasskey();
      return { who, action: "passkey.rename", params, body: { name: "Laptop" } };
    },
    "DELETE /api/me/passkeys/:id": async () => {
      const { who, params } = await withAddedPasskey();
      return { who, action: "passkey.remove", params };
    },
    "DELETE /api/people/:id/factors": async () => {
      const id = await idOf((await withApp()).who);
      return { who: operator(), action: "factor.reset", params: { id } };
    },
  };
}
