import { type AccountRole, accountRoles, covers } from "../role.ts";
import type { Grants } from "./store.ts";

/** What one group allows; `*` stands for everyone whom the provider signs in. */
export interface RoleRule {
  readonly group: string;
  /** Absent: the role of an operator. */
  readonly member?: { readonly account: string; readonly role: AccountRole } | undefined;
}

/** As the setting has them: `group=operator` or `group=account:role`. */
export function toRoleRules(texts: readonly string[]): readonly RoleRule[] {
  return texts.map((text) => {
    const at = text.lastIndexOf("=");
    const [group, right] = [text.slice(0, at), text.slice(at + 1)];
    if (right === "operator") return { group };
    const colon = right.lastIndexOf(":");
    const role = accountRoles.find((known) => known === right.slice(colon + 1)) ?? "viewer";
    return { group, member: { account: right.slice(0, colon), role } };
  });
}

/** Finds an account by its id or name. */
export type FindAccount = (text: string) => Promise<{ readonly id: string } | undefined>;

/** Of several groups for one account, the highest role counts. */
export async function grantsOf(
  groups: readonly string[],
  rules: readonly RoleRule[],
  findAccount: FindAccount,
): Promise<Grants & { readonly unknownAccounts: readonly string[] }> {
  const held = new Set(groups);
  const mine = rules.filter(({ group }) => group === "*" || held.has(group));
  const roles = new Map<string, AccountRole>();
  const unknownAccounts: string[] = [];
  for (const { member } of mine) {
    if (member === undefined) continue;
    const account = await findAccount(member.account);
    if (account === undefined) unknownAccounts.push(member.account);
    else if (!isCovered(roles.get(account.id), member.role)) roles.set(account.id, member.role);
  }
  return {
    isOperator: mine.some(({ member }) => member === undefined),
    roles,
    unknownAccounts,
  };
}

const isCovered = (held: AccountRole | undefined, role: AccountRole) =>
  held !== undefined && covers(held, role);
