import { useLocation, useParams } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import type { Reply } from "./api.ts";
import { setTimeZone, tellTimeZone } from "./format/moments.ts";
import { useApi } from "./queries.ts";

type Session = Reply<"GET /api/session">;
export type User = NonNullable<Session["user"]>;
export type Role = User["accounts"][number]["role"];

const lastAccountName = "svc-account";

/** The account that was looked at last, so that one comes back to it. */
export const lastAccount = {
  get: () => localStorage.getItem(lastAccountName) ?? undefined,
  set: (id: string) => localStorage.setItem(lastAccountName, id),
  /** The operator looks at all of them. */
  clear: () => localStorage.removeItem(lastAccountName),
};

const roles: readonly Role[] = ["owner", "developer", "viewer"];
const SessionContext = createContext<Session | undefined>(undefined);

export function SessionProvider(props: {
  readonly session: Session;
  readonly children: ReactNode;
}) {
  // Before the pages inside are drawn: they format by it.
  const zone = props.session.user?.time_zone ?? "local";
  setTimeZone(zone);
  useEffect(() => tellTimeZone(zone), [zone]);
  return <SessionContext value={props.session}>{props.children}</SessionContext>;
}

/** Who is here, on any page: `user` is null for a visitor. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("useSession needs a session provider.");
  return session;
}

/** Who has signed in; only on pages that ask for it. */
export function useUser(): User {
  const { user } = useSession();
  if (user === null) throw new Error("Not signed in.");
  return user;
}

/** The account that the address names; undefined where the operator looks at all of them. */
export function useAccountId(): string | undefined {
  const { account } = useParams({ strict: false });
  return account;
}

/** The same, and where the address says nothing, the account that was looked at last. */
export function useChosenAccountId(): string | undefined {
  const named = useAccountId();
  const { pathname } = useLocation();
  const { user } = useSession();
  if (named !== undefined || user === null || pathname.startsWith("/operator")) return named;
  const kept = lastAccount.get();
  if (user.is_operator) return kept;
  return user.accounts.find(({ id }) => id === kept)?.id ?? user.accounts[0]?.id;
}

/** The account that the address names, on pages that are always about one. */
export function useAccount(): { readonly id: string; readonly name: string; readonly role: Role } {
  const id = useAccountId();
  const found = useAccounts().find((account) => account.id === id);
  if (id === undefined) throw new Error("This page has no account.");
  return found ?? { id, name: id, role: "owner" };
}

/** The accounts one may look at: one's own, or all for the operator, who may do everything there. */
export function useAccounts(): readonly {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}[] {
  const { user } = useSession();
  const isOperator = user?.is_operator === true;
  const all = useApi("GET /api/accounts", {}, { enabled: isOperator });
  if (!isOperator) return user?.accounts ?? [];
  return (all.data ?? []).map(({ id, name }) => ({ id, name, role: "owner" as const }));
}

/** An operator has every role in every account. */
export function roleIn(user: User, account: string | undefined): Role | undefined {
  if (user.is_operator) return "owner";
  return user.accounts.find(({ id }) => id === account)?.role;
}

export const covers = (role: Role | undefined, needed: Role): boolean =>
  role !== undefined && roles.indexOf(role) <= roles.indexOf(needed);

/** Whether one may do here what needs a role: parts that one may not use are not shown. */
export function useMay(needed: Role | "operator"): boolean {
  const user = useUser();
  const account = useAccountId();
  if (user.is_operator) return true;
  return needed !== "operator" && covers(roleIn(user, account), needed);
}
