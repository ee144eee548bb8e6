import { toDateText } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import { invalid } from "../../base/problem.ts";
import { factors } from "../../people/factors/store.ts";
import { timeZoneChoices } from "../../people/preferences.ts";
import { localRules } from "../../people/session-policy.ts";
import { inviteKinds } from "../../people/store.ts";
import { networkOf } from "../../people/throttle.ts";
import { type Context, route } from "../context.ts";
import { partyOf } from "../factors/routes.ts";
import { assertion, code, requestOptions, secondFactor, ticket } from "../factors/schemas.ts";
import { personOf } from "../http/context.ts";
import { endedCookie } from "../http/entry.ts";
import { done, fields, isDone, moment, nullable, oneOf, says, text } from "../http/schemas.ts";
import { accountNames } from "../input/values.ts";
import { user } from "../people/schemas.ts";
import { toPersonView } from "../people/views.ts";
import { browserSecrets, noSecrets, signIn, signInReply, toSecondFactor } from "./replies.ts";

const sessionReply = Type.Object({
  user: nullable(
    Type.Object({
      ...user.properties,
      has_password: Type.Boolean(),
      identity: nullable(
        Type.Object(
          { email: Type.String(), is_current: Type.Boolean() },
          { description: "At the identity provider; `is_current`: the one that is set up now." },
        ),
      ),
      time_zone: oneOf(timeZoneChoices, {
        description: "Zone of the times in the console: the browser's, or UTC.",
      }),
      dismissed: Type.Array(Type.String(), {
        description: "Hints of the console that the user has dismissed.",
      }),
    }),
  ),
  must_add_factor: Type.Boolean({
    description: "True: a second factor must be set up before anything else.",
  }),
  sign_in: Type.Object({
    provider: nullable(
      Type.String({ description: "Name of the identity provider; null: there is none." }),
    ),
    passwords: oneOf(localRules, { description: "Who may sign in without it." }),
  }),
  sends_mail: Type.Boolean({
    description: "Whether links can be mailed, and users can reset a forgotten password.",
  }),
  version: Type.String(),
  gateway_url: Type.String({ description: "Base URL of the gateway; ends in /v1." }),
});

const begunReply = Type.Object({
  ...done.properties,
  account: nullable(Type.String({ description: "The account that the user joined." })),
  ...browserSecrets,
});

const email = text({ least: 3, most: 254, about: "Not case-sensitive." });
const password = Type.String({ minLength: 1, maxLength: 1_000, ...says("a password") });

const hint = Type.String({
  maxLength: 100,
  pattern: "^[a-z]+(:[A-Za-z0-9_-]+)?$",
  description: "Name of a hint in the console, such as the setup checklist: `setup`.",
  ...says("the name of a hint, such as setup"),
});

const invitation = Type.Object({
  kind: oneOf(inviteKinds),
  email: nullable(Type.String()),
  account_name: nullable(Type.String()),
  role: nullable(Type.String()),
  expires_at: moment(),
});

/** Signing in and out, joining by a link, and what people may do about themselves. */
export const sessionRoutes = [
  route("GET /api/session", {
    about: "Shows the signed-in user, if any, and the address of the gateway.",
    access: "anyone",
    reply: sessionReply,
    handle: (context) => view(context),
  }),
  route("POST /api/session", {
    about:
      "Signs in. The reply sets a cookie and contains the `binding` that browsers send with it. A wrong email address and a wrong password return the same error. If the user has a second factor, no session begins yet: see `second_factor`.",
    access: "anyone",
    body: fields({ email, password }),
    reply: signInReply,
    async handle(context, { body }) {
      const { people, factors: known } = context.dependencies;
      const found = await people.authenticate(body, context.visitor);
      await people.checkLocal(found);
      context.admitSession(found);
      const challenge = await known.secondStep.challenge(found, { party: context.party });
      if (challenge !== undefined)
        return { ok: false, second_factor: toSecondFactor(context, challenge), ...noSecrets };
      const { secret } = await context.operations.sessions.begin({
        userId: found.id,
        userAgent: context.visitor.userAgent,
        isBound: context.isBrowser,
      });
      return { ok: true, second_factor: null, ...signIn(context, found.id, secret) };
    },
  }),
  route("POST /api/session/second-step", {
    about:
      "Completes a sign-in, or the use of a link, with a code or a passkey. Needs the ticket of the first step and the cookie that came with it.",
    access: "anyone",
    body: fields({
      ticket,
      code: Type.Optional(code),
      passkey: Type.Optional(assertion),
    }),
    reply: begunReply,
    async handle(context, { body }) {
      if (body.code === undefined && body.passkey === undefined)
        throw invalid({ code: "Send one of: code, passkey." });
      const begun = await context.operations.sessions.finish({ ...body, ...answering(context) });
      return toBegun(context, begun);
    },
  }),
  route("POST /api/session/passkey-options", {
    about: "Returns the options for signing in with a passkey alone.",
    access: "anyone",
    reply: Type.Object({ ticket: Type.String(), options: nullable(requestOptions) }),
    async handle(context) {
      const { secondStep } = context.dependencies.factors;
      const challenge = await secondStep.passkeyChallenge(partyOf(context));
      const { ticket: given, passkey_options: options } = toSecondFactor(context, challenge);
      return { ticket: given, options };
    },
  }),
  route("POST /api/session/passkey", {
    about:
      "Signs in with a passkey alone. The passkey must have checked its user, with a fingerprint or a PIN.",
    access: "anyone",
    body: fields({ ticket, passkey: assertion }),
    reply: begunReply,
    async handle(context, { body }) {
      const begun = await context.operations.sessions.beginWithPasskey({
        ...body,
        ...answering(context),
        admit: context.admitSession,
      });
      return toBegun(context, begun);
    },
  }),
  route("POST /api/session/forgot", {
    about:
      "Mails a password reset link to a user. The reply is the same for an unknown email address.",
    access: "anyone",
    body: fields({ email }),
    reply: done,
    async handle({ operations, visitor }, { body }) {
      await operations.people.forgot({ ...body, network: networkOf(visitor.address) });
      return isDone;
    },
  }),
  route("DELETE /api/session", {
    about: "Signs out and ends this session.",
    access: "person",
    isForSetup: true,
    isUncounted: true,
    reply: Type.Object({
      ...done.properties,
      provider_url: nullable(
        Type.String({ description: "Open it to sign out of the identity provider as well." }),
      ),
    }),
    async handle(context) {
      const { user, session } = personOf(context);
      const { identities } = context.dependencies;
      await context.operations.sessions.end({ userId: user.id, id: session.id });
      const url = await identities?.logoutUrl(session, `${context.origin}/sign-in`);
      context.setCookie(endedCookie("session"));
      return { ...isDone, provider_url: url ?? null };
    },
  }),
  route("POST /api/invites/look", {
    about: "Shows the purpose of a link.",
    access: "anyone",
    body: fields({ token: text({ least: 1, most: 200 }) }),
    reply: invitation,
    async handle({ dependencies }, { body }) {
      const invite = await dependencies.invites.look(body.token);
      const account =
        invite.accountId === undefined
          ? undefined
          : await dependencies.accounts.find(invite.accountId);
      return {
        kind: invite.kind,
        email: invite.email ?? null,
        account_name: account?.name ?? null,
        role: invite.role ?? null,
        expires_at: toDateText(invite.expiresAtMs),
      };
    },
  }),
  route("POST /api/invites/accept", {
    about: "Uses a link to join or to set a new password, and signs in.",
    access: "anyone",
    body: fields({
      token: text({ least: 1, most: 200 }),
      name: text({ most: 100 }),
      email: text({ most: 254 }),
      password,
    }),
    reply: Type.Object({
      id: Type.String(),
      email: Type.String(),
      account: nullable(Type.String({ description: "The account that the user joined." })),
      second_factor: secondFactor,
      ...browserSecrets,
    }),
    async handle(context, { body }) {
      const { visitor, isBrowser: isBound, party } = context;
      const joined = await context.operations.people.join({ ...body, visitor, isBound, party });
      const { challenge, secret, ...who } = joined;
      return challenge === undefined
        ? { ...who, second_factor: null, ...signIn(context, who.id, secret) }
        : { ...who, second_factor: toSecondFactor(context, challenge), ...noSecrets };
    },
  }),
  route("GET /api/me/sessions", {
    about: "Lists your sessions.",
    access: "person",
    reply: Type.Array(
      Type.Object({
        id: Type.String(),
        created_at: moment(),
        last_seen_at: moment(),
        expires_at: moment(),
        factor: nullable(
          oneOf(factors, {
            description: "What was proved besides the password, or instead of it.",
          }),
        ),
        user_agent: Type.String(),
        address: Type.String(),
        is_current: Type.Boolean(),
      }),
    ),
    async handle(context) {
      const { user, session } = personOf(context);
      const { people, clock } = context.dependencies;
      const sessions = await people.store.sessions(user.id);
      return sessions
        .filter((one) => people.endOf(one) > clock.nowMs())
        .map((one) => ({
          id: one.id,
          created_at: toDateText(one.createdAtMs),
          last_seen_at: toDateText(one.lastSeenMs),
          expires_at: toDateText(people.endOf(one)),
          factor: one.factor ?? null,
          user_agent: one.userAgent,
          address: one.address,
          is_current: one.id === session.id,
        }));
    },
  }),
  route("DELETE /api/me/sessions", {
    about: "Ends all your other sessions.",
    access: "person",
    isUncounted: true,
    reply: Type.Object({ ended: Type.Integer() }),
    handle(context) {
      const { user, session } = personOf(context);
      return context.operations.sessions.endOthers({ userId: user.id, keep: session.id });
    },
  }),
  route("DELETE /api/me/sessions/:id", {
    about: "Ends one of your sessions.",
    access: "person",
    isUncounted: true,
    reply: done,
    async handle(context, { params }) {
      const userId = personOf(context).user.id;
      await context.operations.sessions.end({ userId, id: params.id });
      return isDone;
    },
  }),
  route("PATCH /api/me", {
    about: "Changes your name or the time zone of the console, or dismisses a hint for good.",
    access: "person",
    body: fields({
      name: Type.Optional(text({ least: 1, most: 100 })),
      time_zone: Type.Optional(oneOf(timeZoneChoices)),
      dismiss: Type.Optional(hint),
    }),
    reply: done,
    async handle(context, { body }) {
      const { id } = personOf(context).user;
      const { name, time_zone: timeZone, dismiss } = body;
      const { people } = context.operations;
      if (name !== undefined) await people.rename({ id, name });
      if (timeZone !== undefined) await people.setTimeZone({ id, timeZone });
      if (dismiss !== undefined) await people.dismiss({ id, hint: dismiss });
      return isDone;
    },
  }),
  route("POST /api/me/password", {
    about: "Changes your password and ends all your other sessions.",
    access: "person",
    body: fields({ current: password, password }),
    reply: done,
    async handle(context, { body }) {
      const { user, session } = personOf(context);
      await context.operations.people.changePassword({
        ...body,
        id: user.id,
        sessionId: session.id,
      });
      return isDone;
    },
  }),
] as const;

/** The session needs what comes after it, and the cookie of the first step has done its work. */
function toBegun(
  context: Context,
  begun: { readonly userId: string; readonly secret: string; readonly account: string | null },
) {
  context.setCookie(endedCookie("signIn"));
  const { userId, secret, account } = begun;
  return { ...isDone, account, ...signIn(context, userId, secret, true) };
}

const answering = (context: Context) => ({
  holder: context.signInCookie,
  party: context.party,
  visitor: context.visitor,
  isBound: context.isBrowser,
});

async function view({ dependencies, actor }: Context) {
  const { identities, people } = dependencies;
  const shared = {
    sign_in: {
      provider: identities?.provider.name ?? null,
      passwords: people.policy.localSignIn,
    },
    sends_mail: dependencies.sendsMail,
    version: dependencies.version,
    gateway_url: `${dependencies.gatewayUrl()}/v1`,
  };
  if (actor?.kind !== "person") return { user: null, must_add_factor: false, ...shared };
  const { user, memberships, mustAddFactor } = actor.person;
  const names = await accountNames(dependencies.accounts);
  const { timeZone, dismissed } = await people.store.preferences(user.id);
  const known = await people.store.identityOf(user.id);
  const person = toPersonView({
    user,
    memberships,
    names,
    sessions: [],
    hasFactor: false,
    hasIdentity: known !== undefined,
    policy: people.policy,
  });
  const own = {
    ...person,
    has_password: user.passwordHash !== "",
    identity: known
      ? { email: known.email, is_current: known.issuer === identities?.provider.issuer }
      : null,
    time_zone: timeZone,
    dismissed,
  };
  return { user: own, must_add_factor: mustAddFactor, ...shared };
}
