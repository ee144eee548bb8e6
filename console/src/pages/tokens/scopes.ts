import type { Area, Scope } from "../../../../src/people/role.ts";
import type { Role } from "../../session.tsx";

export interface AreaChoice {
  readonly area: Area;
  readonly about: string;
  /** Whether there is anything in it that a token can change. */
  readonly isWritable: boolean;
}

const ofAccounts: readonly AreaChoice[] = [
  { area: "usage", about: "Spend, requests and receipts", isWritable: false },
  { area: "keys", about: "Create, change and revoke keys", isWritable: true },
  { area: "models", about: "Models and their prices", isWritable: false },
  { area: "billing", about: "Balance and ledger", isWritable: false },
  { area: "members", about: "Members, invitations and tokens", isWritable: true },
  { area: "audit", about: "Audit log", isWritable: false },
];

const ofOperators: readonly AreaChoice[] = [
  { area: "accounts", about: "Accounts, credit and limits", isWritable: true },
  { area: "providers", about: "Providers and their tests", isWritable: true },
  { area: "catalog", about: "Models, routes and lifecycle", isWritable: true },
  { area: "prices", about: "Prices and their history", isWritable: true },
  { area: "engine", about: "Embedded engine", isWritable: true },
  { area: "settings", about: "Settings, operators and tokens", isWritable: true },
  { area: "metrics", about: "/metrics for Prometheus", isWritable: false },
];

/** What a token can be let into; a test holds it against the routes. */
export const areaChoices = {
  account: ofAccounts,
  operator: [...ofAccounts, ...ofOperators],
} as const;

export type TokenKind = keyof typeof areaChoices;

export interface Preset {
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** The least that these scopes are of use to; for tokens of an account. */
  readonly role?: Role;
}

export const presets: Readonly<Record<TokenKind, readonly Preset[]>> = {
  account: [
    { label: "Read usage", scopes: ["usage:read", "models:read"], role: "viewer" },
    { label: "Manage keys", scopes: ["keys:write", "models:read"], role: "developer" },
    { label: "Read billing", scopes: ["billing:read", "usage:read"], role: "viewer" },
    { label: "Read everything", scopes: readAll(ofAccounts), role: "owner" },
  ],
  operator: [
    { label: "Scrape metrics", scopes: ["metrics:read"] },
    { label: "Manage accounts", scopes: ["accounts:write", "billing:read", "keys:write"] },
    { label: "Deploy models", scopes: ["catalog:write", "prices:write", "providers:write"] },
    { label: "Read everything", scopes: readAll(areaChoices.operator) },
  ],
};

function readAll(choices: readonly AreaChoice[]): readonly Scope[] {
  return choices.map(({ area }): Scope => `${area}:read`);
}

/** To write is to read: one of both is kept. */
export function withScope(chosen: readonly Scope[], scope: Scope, isOn: boolean): readonly Scope[] {
  const [area = "", level] = scope.split(":");
  const others = chosen.filter((one) => one.split(":")[0] !== area);
  if (isOn) return [...others, scope];
  return level === "write" ? [...others, `${area}:read` as Scope] : others;
}

/** `keys:write`, `usage:read` as one says it. */
export function scopeWords(scopes: readonly string[]): string {
  return scopes
    .map((scope) => {
      const [area = "", level] = scope.split(":");
      return level === "write" ? `${area} (read and write)` : `${area} (read)`;
    })
    .join(", ");
}
