import type { Log } from "../base/log.ts";
import { isLoopback } from "../base/network/address.ts";
import type { Settings } from "../config/settings.ts";
import { toRoleRules } from "../people/identity/roles.ts";
import type { Operations } from "../platform/operations.ts";

interface Listener {
  readonly what: "gateway" | "platform";
  readonly host: string;
  /** The address that users see. */
  readonly url: string | undefined;
  readonly setting: "SVC_PUBLIC_URL" | "SVC_PLATFORM_URL";
}

export const listenersOf = (settings: Settings): readonly Listener[] => [
  {
    what: "gateway",
    host: settings.host,
    url: settings.publicUrl,
    setting: "SVC_PUBLIC_URL",
  },
  {
    what: "platform",
    host: settings.platformHost,
    url: settings.platformUrl,
    setting: "SVC_PLATFORM_URL",
  },
];

/** Whether others reach it over a network without TLS, and no proxy with TLS is known. */
export const isExposed = ({ host, url }: Listener, { tlsCert }: Settings): boolean =>
  !isLoopback(host) && tlsCert === undefined && url?.startsWith("https:") !== true;

/** Once per start, for the listeners of this command. */
export function warnOfExposure(
  settings: Settings,
  log: Log,
  roles: readonly Listener["what"][],
): void {
  if (settings.trustedProxies !== undefined) return;
  const exposed = listenersOf(settings).filter(
    (one) => roles.includes(one.what) && isExposed(one, settings),
  );
  if (exposed.length === 0) return;
  log.warn(
    "API keys and passwords cross the network unencrypted; set SVC_TLS_CERT and SVC_TLS_KEY, or put a proxy with TLS in front and set the https addresses (docs/deploy/tls.md)",
    {
      listeners: exposed.map(({ what, host }) => `${what} on ${host}`).join(", "),
      settings: exposed.map(({ setting }) => setting).join(", "),
    },
  );
}

/** Accounts of SVC_OIDC_ROLES that do not exist: a group gives no role in them. */
export async function missingAccounts(
  { oidcRoles = [] }: Settings,
  operations: Operations,
): Promise<readonly string[]> {
  const named = toRoleRules(oidcRoles).flatMap(({ member }) => member?.account ?? []);
  if (named.length === 0) return [];
  const accounts = await operations.accounts.list({});
  const known = new Set(accounts.flatMap(({ id, name }) => [id, name]));
  return [...new Set(named.filter((name) => !known.has(name)))].slice(0, 5);
}

/** The server listens already: a database that fails now is in the log, and ends nothing. */
export async function warnOfMissingAccounts(
  settings: Settings,
  log: Log,
  operations: Operations,
): Promise<void> {
  const missing = await missingAccounts(settings, operations).catch((error: unknown) => {
    log.error("cannot check the accounts of SVC_OIDC_ROLES", { detail: String(error) });
    return [];
  });
  if (missing.length === 0) return;
  log.warn("SVC_OIDC_ROLES names accounts that do not exist; svc account create creates one", {
    accounts: missing.join(", "),
  });
}
