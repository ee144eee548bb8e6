import { toDateText } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import { IdentityRefused, IdentityUnavailable } from "../../people/identity/failures.ts";
import type { IdentityStart } from "../../people/identity/identities.ts";
import { LogoutRefused } from "../../people/identity/logout-token.ts";
import { TooManyTries } from "../../people/sign-in-limits.ts";
import { networkOf } from "../../people/throttle.ts";
import { type Context, route } from "../context.ts";
import { ticket } from "../factors/schemas.ts";
import { personOf } from "../http/context.ts";
import { endedCookie } from "../http/entry.ts";
import { done, fields, isDone, moment, text } from "../http/schemas.ts";
import { noSecrets, signIn, signInReply, toSecondFactor } from "../session/replies.ts";
import { needIdentities } from "./operations.ts";

const startReply = Type.Object({
  url: Type.String({ description: "Of the identity provider: open it in the browser." }),
  ticket: Type.String({ description: "Send it with what the browser brings back." }),
  expires_at: moment(),
});

const returned = fields({
  ticket,
  search: text({
    least: 1,
    most: 8_000,
    about:
      "The query with which the identity provider sent the browser to `/sign-in/callback`, as it is.",
  }),
});

/** Signing in through the identity provider. */
export const identityRoutes = [
  route("POST /api/session/oidc", {
    about:
      "Starts a sign-in through the identity provider. The reply sets a cookie; the provider sends the browser back to `/sign-in/callback`.",
    access: "anyone",
    reply: startReply,
    async handle(context) {
      const identities = needIdentities(context.dependencies.identities);
      return toStart(context, await logged(context, () => identities.begin(callback(context))));
    },
  }),
  route("POST /api/session/oidc/finish", {
    about:
      "Completes a sign-in through the identity provider. Needs the ticket of its start and the cookie that came with it; both work once.",
    access: "anyone",
    body: returned,
    reply: signInReply,
    async handle(context, { body }) {
      const { party, isBrowser: isBound, admitSession: admit } = context;
      const given = { ...body, ...bringing(context), isBound, admit, party };
      const entered = await logged(context, () => context.operations.identities.enter(given));
      const { userId, secret, challenge, unknownAccounts } = entered;
      if (unknownAccounts.length > 0)
        context.dependencies.log.warn("SVC_OIDC_ROLES names accounts that do not exist", {
          accounts: unknownAccounts.slice(0, 10).join(", "),
        });
      if (challenge !== undefined)
        return { ok: false, second_factor: toSecondFactor(context, challenge), ...noSecrets };
      context.setCookie(endedCookie("signIn"));
      return { ok: true, second_factor: null, ...signIn(context, userId, secret) };
    },
  }),
  route("POST /api/session/oidc/back-channel", {
    about:
      "For the identity provider (OpenID Connect Back-Channel Logout): ends all sessions that it began for a user who has signed out there.",
    access: "anyone",
    isForm: true,
    body: Type.Object({
      logout_token: text({ least: 1, most: 8_000, about: "Signed by the identity provider." }),
    }),
    reply: done,
    async beforeBody({ dependencies }) {
      needIdentities(dependencies.identities);
    },
    async handle(context, { body: { logout_token: token } }) {
      const { visitor, operations } = context;
      try {
        await operations.identities.loggedOut({ token, visitor });
      } catch (error) {
        reportLogout(context, error);
        throw error;
      }
      return isDone;
    },
  }),
  route("POST /api/me/identity", {
    about: "Starts connecting your user to the identity provider.",
    access: "person",
    needsRecent: true,
    reply: startReply,
    async handle(context) {
      const identities = needIdentities(context.dependencies.identities);
      const { id } = personOf(context).user;
      return toStart(context, await logged(context, () => identities.begin(callback(context), id)));
    },
  }),
  route("POST /api/me/identity/finish", {
    about:
      "Connects your user to the one that you signed in with at the identity provider. From then on, the provider signs you in.",
    access: "person",
    needsRecent: true,
    body: returned,
    reply: done,
    async handle(context, { body }) {
      const who = personOf(context);
      const given = { ...body, ...bringing(context), who };
      await logged(context, () => context.operations.identities.connect(given));
      context.setCookie(endedCookie("signIn"));
      return isDone;
    },
  }),
  route("DELETE /api/people/:id/identity", {
    about:
      "Disconnects a user from the identity provider: the rights that groups gave end, and so do the sessions that it began.",
    access: "operator",
    reply: done,
    async handle({ operations }, { params }) {
      await operations.identities.disconnect({ id: params.id });
      return isDone;
    },
  }),
] as const;

const callback = ({ origin }: Context) => `${origin}/sign-in/callback`;

const bringing = ({ signInCookie: holder, visitor }: Context) => ({ holder, visitor });

function toStart({ setCookie, dependencies }: Context, start: IdentityStart) {
  const { url, ticket: given, expiresAtMs, holder } = start;
  setCookie({ kind: "signIn", value: holder, ageMs: expiresAtMs - dependencies.clock.nowMs() });
  return { url, ticket: given, expires_at: toDateText(expiresAtMs) };
}

/** The sentence for the visitor says what to do; the operator's log says what it was. */
async function logged<T>({ dependencies }: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof IdentityRefused || error instanceof IdentityUnavailable)
      dependencies.log.warn("sign-in through the identity provider failed", {
        detail: error.detail,
      });
    throw error;
  }
}

/** No session ends: the operator's log says why, at most once per minute for each kind of failure. */
function reportLogout({ dependencies, visitor }: Context, error: unknown): void {
  const { identities, log } = dependencies;
  const report = (message: string, detail: string) => {
    if (identities?.isReportDue(message) === true)
      log.warn(message, { detail, network: networkOf(visitor.address) });
  };
  if (error instanceof TooManyTries)
    report("sign-outs of the identity provider are refused", "too many invalid logout tokens");
  if (error instanceof LogoutRefused)
    report(
      error.isCounted
        ? "an invalid logout token was refused"
        : "a logout token of the identity provider was refused",
      error.detail,
    );
  if (error instanceof IdentityUnavailable)
    report("a logout token could not be checked", error.detail);
}
