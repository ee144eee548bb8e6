import {
  type Icon,
  IconBuilding,
  IconCash,
  IconKey,
  IconLayoutGrid,
  IconLock,
  IconServer,
  IconTag,
  IconUserPlus,
} from "@tabler/icons-react";
import { covers, type Role, roleIn, type User } from "../../session.tsx";

export interface Action {
  readonly label: string;
  readonly icon: Icon;
  /** Where it leads at once. */
  readonly href?: string;
  /** Where it leads for an account; without one at hand, the palette asks which. */
  readonly hrefFor?: (account: string) => string;
}

interface RoleAction extends Action {
  readonly needs: Role | "operator";
}

const all: readonly RoleAction[] = [
  {
    label: "Create key",
    icon: IconKey,
    needs: "developer",
    hrefFor: (account) => `/a/${account}/keys?new=1`,
  },
  {
    label: "Add credit",
    icon: IconCash,
    needs: "operator",
    hrefFor: (account) => `/operator/accounts/${account}?credit=1`,
  },
  {
    label: "Add provider",
    icon: IconServer,
    needs: "operator",
    href: "/operator/providers?new=1",
  },
  {
    label: "Add model",
    icon: IconLayoutGrid,
    needs: "operator",
    href: "/operator/catalog?new=1",
  },
  { label: "Set prices", icon: IconTag, needs: "operator", href: "/operator/prices" },
  {
    label: "Create account",
    icon: IconBuilding,
    needs: "operator",
    href: "/operator/accounts?new=1",
  },
  {
    label: "Invite member",
    icon: IconUserPlus,
    needs: "owner",
    hrefFor: (account) => `/a/${account}/members?new=1`,
  },
  {
    label: "Invite operator",
    icon: IconUserPlus,
    needs: "operator",
    href: "/operator/people?new=1",
  },
  {
    label: "Create token",
    icon: IconLock,
    needs: "owner",
    hrefFor: (account) => `/a/${account}/tokens?new=1`,
  },
];

/** What one may do, from anywhere. */
export function actionsFor(user: User | null, account: string | undefined): readonly Action[] {
  if (user === null) return [];
  const role = roleIn(user, account);
  return all.filter(({ needs }) => (needs === "operator" ? user.is_operator : covers(role, needs)));
}
