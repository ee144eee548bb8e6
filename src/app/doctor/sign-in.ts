import { systemClock } from "../../base/clock.ts";
import { isLoopback } from "../../base/network/address.ts";
import type { Configuration } from "../../config/load.ts";
import { IdentityUnavailable } from "../../people/identity/failures.ts";
import type { Operations } from "../../platform/operations.ts";
import { identityProvider } from "../identities.ts";
import { missingAccounts } from "../start-warnings.ts";
import { platformAddress } from "../store.ts";
import type { Checks } from "./checks.ts";

/** Whether the identity provider answers, and what must be entered there. */
export async function checkSignIn(checks: Checks, configuration: Configuration): Promise<void> {
  const { settings } = configuration;
  const provider = identityProvider(settings, systemClock);
  if (provider === undefined) return checks.skipped("No identity provider is set up");
  const address = platformAddress(configuration);
  try {
    const { hasLogout, hasBackChannel } = await provider.check();
    checks.ok(`${provider.name} responds (${provider.issuer})`);
    if (!hasLogout) checks.ok(`${provider.name} has no sign-out page, so signing out ends here`);
    if (hasBackChannel)
      checks.ok(
        `It can report sign-outs: its back-channel logout URI is ${address}/api/session/oidc/back-channel`,
      );
  } catch (error) {
    const reason = error instanceof IdentityUnavailable ? error.detail : String(error);
    checks.problem(
      `The identity provider cannot be used: ${reason}.`,
      "Check SVC_OIDC_ISSUER, the network and the provider. Until then, only passwords and svc operator reset sign users in.",
    );
  }
  checks.ok(`Its redirect URI must be ${address}/sign-in/callback`);
  if (settings.platformUrl === undefined && !isLoopback(settings.platformHost))
    checks.warning(
      "The redirect URI depends on the address that people open, because SVC_PLATFORM_URL is not set.",
      "Set SVC_PLATFORM_URL to the public address of the platform.",
    );
  if (settings.oidcRoles === undefined)
    checks.warning(
      "No group gives a role, so only users who were invited can sign in through the provider.",
      "Set SVC_OIDC_ROLES.",
    );
}

/** Accounts that the mapping names, and that do not exist. */
export async function checkRoleAccounts(
  checks: Checks,
  { settings }: Configuration,
  operations: Operations,
): Promise<void> {
  const missing = await missingAccounts(settings, operations);
  if (missing.length > 0)
    checks.problem(
      `SVC_OIDC_ROLES names accounts that do not exist: ${missing.join(", ")}.`,
      "svc account create creates one; svc account list shows the names and ids of those that exist.",
    );
}
