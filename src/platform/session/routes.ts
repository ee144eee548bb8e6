import { toDateText } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import { timeZoneChoices } from "../../people/preferences.ts";
import { inviteKinds } from "../../people/store.ts";
import { type Context, route } from "../context.ts";
import { personOf } from "../http/context.ts";
import { endedCookie, sessionCookie } from "../http/entry.ts";
import { done, fields, isDone, moment, nullable, oneOf, says, text } from "../http/schemas.ts";
import { accountNames } from "../input/values.ts";
import { user } from "../people/schemas.ts";
import { toPersonView } from "../people/views.ts";

const sessionReply = Type.Object({
  user: nullable(
    Type.Object({
      ...user.properties,
      time_zone: oneOf(timeZoneChoices, {
        description: "Zone of the times in the console: the browser's, or UTC.",
      }),
      dismissed: Type.Array(Type.String(), {
        description: "Hints of the console that the user has dismissed.",
      }),
    }),
  ),
  version: Type.String(),
  gateway_url: Type.String({ description: "Base URL of the gateway; ends in /v1." }),
});

/** Given to a browser with its session; null for a program, whose cookie is enough. */
const browserSecrets = {
  binding: nullable(
    Type.String({ description: "Send it as x-svc-session together with the cookie." }),
  ),
  device: nullable(
    Type.String({
      description:
        "Send it as x-svc-device with the next sign-in, so that failed attempts from elsewhere do not count.",
    }),
  ),
};

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
      "Signs in. The reply sets a cookie and contains the `binding` that browsers send with it. A wrong email address and a wrong password return the same error.",
    access: "anyone",
    body: fields({ email, password }),
    reply: Type.Object({ ...done.properties, ...browserSecrets }),
    async handle(context, { body }) {
      const found = await context.dependencies.people.authenticate(body, context.visitor);
      context.admitSession(found);
      const { secret } = await context.operations.sessions.begin({
        userId: found.id,
        userAgent: context.visitor.userAgent,
        isBound: context.isBrowser,
      });
      return { ...isDone, ...signIn(context, found.id, secret) };
    },
  }),
  route("DELETE /api/session", {
    about: "Signs out and ends this session.",
    access: "person",
    isUncounted: true,
    reply: done,
    async handle(context) {
      const { user, session } = personOf(context);
      await context.operations.sessions.end({ userId: user.id, id: session.id });
      context.headers.append("set-cookie", endedCookie(context.isSecure));
      return isDone;
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
      ...browserSecrets,
    }),
    async handle(context, { body }) {
      const { visitor, isBrowser: isBound } = context;
      const { secret, ...joined } = await context.operations.people.join({
        ...body,
        visitor,
        isBound,
      });
      return { ...joined, ...signIn(context, joined.id, secret) };
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
        .filter(({ expiresAtMs }) => expiresAtMs > clock.nowMs())
        .map((one) => ({
          id: one.id,
          created_at: toDateText(one.createdAtMs),
          last_seen_at: toDateText(one.lastSeenMs),
          expires_at: toDateText(one.expiresAtMs),
          user_agent: one.userAgent,
          address: one.address,
          is_current: one.id === session.id,
        }));
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

/** Sets the cookie; what a browser must keep beside it is in the reply, where no other site reads. */
function signIn(context: Context, userId: string, secret: string) {
  const { dependencies, headers, isSecure, isBrowser } = context;
  headers.append("set-cookie", sessionCookie(secret, isSecure));
  return {
    binding: dependencies.sessionSecrets.bindingOf(secret),
    device: isBrowser
      ? dependencies.sessionSecrets.newDevice(userId, dependencies.clock.nowMs())
      : null,
  };
}

async function view({ dependencies, actor }: Context) {
  const shared = { version: dependencies.version, gateway_url: `${dependencies.gatewayUrl()}/v1` };
  if (actor?.kind !== "person") return { user: null, ...shared };
  const { user, memberships } = actor.person;
  const names = await accountNames(dependencies.accounts);
  const { timeZone, dismissed } = await dependencies.people.store.preferences(user.id);
  const person = toPersonView({ user, memberships, names, sessions: [] });
  return { user: { ...person, time_zone: timeZone, dismissed }, ...shared };
}
