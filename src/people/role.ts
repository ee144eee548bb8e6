/** What a person may do in an account; each may also do what those after it may. */
export const accountRoles = ["owner", "developer", "viewer"] as const;
export type AccountRole = (typeof accountRoles)[number];

/** Whether a role in an account is enough where another is asked for. */
export function covers(role: AccountRole, needed: AccountRole): boolean {
  return accountRoles.indexOf(role) <= accountRoles.indexOf(needed);
}

/**
 * The parts of the platform that a token can be let into, each to read or to write (which is to
 * read too). People have all of them, as far as their role goes.
 */
export const areas = [
  "usage",
  "keys",
  "models",
  "billing",
  "members",
  "providers",
  "catalog",
  "prices",
  "accounts",
  "engine",
  "settings",
  "audit",
  "metrics",
] as const;
export type Area = (typeof areas)[number];
export type Scope = `${Area}:${"read" | "write"}`;

export const scopes: readonly Scope[] = areas.flatMap((area) => [
  `${area}:read` as const,
  `${area}:write` as const,
]);

export function mayEnter(granted: readonly string[], area: Area, isWrite: boolean): boolean {
  return granted.includes(`${area}:write`) || (!isWrite && granted.includes(`${area}:read`));
}
