import type { Clock } from "../base/clock.ts";
import type { Configuration } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import { Identities } from "../people/identity/identities.ts";
import { IdentityProvider } from "../people/identity/provider.ts";
import { toRoleRules } from "../people/identity/roles.ts";
import type { People } from "../people/people.ts";
import type { Opened } from "./opened.ts";

/** Undefined: no identity provider is set up. */
export function createIdentities(options: {
  readonly configuration: Configuration;
  readonly opened: Opened;
  readonly people: People;
  readonly clock: Clock;
}): Identities | undefined {
  const { configuration, opened, people, clock } = options;
  const { settings } = configuration;
  const provider = identityProvider(settings, clock);
  return (
    provider &&
    new Identities({
      provider,
      people,
      sealing: opened.secrets,
      policy: {
        rules: toRoleRules(settings.oidcRoles ?? []),
        linksByEmail: settings.oidcLink === "on",
        trustsEmail: settings.oidcTrustEmail === "on",
        secondFactor: settings.oidcSecondFactor,
      },
      findAccount: (text) => opened.store.accounts.find(text),
    })
  );
}

export function identityProvider(settings: Settings, clock: Clock): IdentityProvider | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId } = settings;
  if (issuer === undefined || clientId === undefined) return undefined;
  return new IdentityProvider(
    {
      issuer,
      clientId,
      clientSecret: settings.oidcClientSecret,
      clientAuth: settings.oidcClientAuth,
      name: settings.oidcName,
      scopes: settings.oidcScopes,
      groupsClaim: settings.oidcGroupsClaim,
    },
    clock,
  );
}
