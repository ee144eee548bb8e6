import { type LyingProvider, lyingClient } from "../../fake/lying-provider.ts";
import { idOf, nobody, type Visitor } from "../../setup/platform-home.ts";
import { cookieOf } from "../../setup/second-factor.ts";
import type { Changes, Stage } from "./audit-factors.ts";

export const identitySettings = (issuer: string) => ({
  SVC_OIDC_ISSUER: issuer,
  SVC_OIDC_CLIENT_ID: lyingClient,
  SVC_OIDC_ROLES: "team=test:developer",
});

/** One successful use of every route of identities that changes something. */
export function identityChanges(
  stage: Stage & { readonly provider: () => LyingProvider },
): Changes {
  const { platformUrl, provider, operator, newMember } = stage;
  const person = () => {
    const sub = crypto.randomUUID();
    const email = `${sub}@example.com`;
    provider().lie = { claims: { sub, email } };
    return email;
  };
  const begin = async (who: Visitor, route: string) => {
    const answer = await who.ask(route);
    const { url, ticket } = answer.body;
    const cookie = [who.cookie, cookieOf(answer, "svc_sign_in")].filter((text) => text !== "");
    const body = { ticket, search: provider().answer(url) };
    return { body, headers: { cookie: cookie.join("; ") } };
  };
  const visitor = () => nobody(platformUrl());
  const enter = async () => {
    const given = await begin(visitor(), "POST /api/session/oidc");
    return visitor().ask("POST /api/session/oidc/finish", given);
  };
  return {
    "POST /api/session/oidc/finish": async () => {
      const email = person();
      await enter();
      const given = await begin(visitor(), "POST /api/session/oidc");
      return { who: visitor(), action: "session.begin", actor: email, ...given };
    },
    "POST /api/me/identity/finish": async () => {
      const who = await newMember(person());
      const given = await begin(who, "POST /api/me/identity");
      return { who, action: "identity.connect", ...given };
    },
    "DELETE /api/people/:id/identity": async () => {
      const who = await newMember(person());
      const given = await begin(who, "POST /api/me/identity");
      await who.ask("POST /api/me/identity/finish", given);
      const id = await idOf(who);
      return { who: operator(), action: "identity.disconnect", params: { id } };
    },
  };
}
