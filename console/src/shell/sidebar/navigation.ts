import {
  type Icon,
  IconAdjustmentsHorizontal,
  IconBook,
  IconBox,
  IconBuilding,
  IconChartBar,
  IconClock,
  IconCpu,
  IconCreditCard,
  IconFileText,
  IconKey,
  IconLayoutGrid,
  IconList,
  IconLock,
  IconServer,
  IconServer2,
  IconTag,
  IconTerminal2,
  IconTrendingUp,
  IconUsers,
} from "@tabler/icons-react";
import { covers, type Role, roleIn, type User } from "../../session.tsx";

export interface NavigationLink {
  readonly label: string;
  readonly icon: Icon;
  readonly to: string;
}

export interface NavigationGroup {
  readonly label: string;
  readonly links: readonly NavigationLink[];
}

const documents: NavigationGroup = {
  label: "Docs",
  links: [
    { label: "API reference", icon: IconBook, to: "/reference" },
    { label: "Changelog", icon: IconClock, to: "/changelog" },
  ],
};

/** The pages of the sidebar and of the command palette. */
export function navigationFor(
  user: User | null,
  account: string | undefined,
): readonly NavigationGroup[] {
  if (user === null) return [documents];
  const groups = account === undefined ? [] : accountNavigation(account, roleIn(user, account));
  return [
    ...groups,
    ...(user.is_operator ? operatorNavigation(account === undefined) : []),
    documents,
  ];
}

/** What a role may not open is not offered; a link to it still leads to a page that says why. */
function accountNavigation(account: string, role: Role | undefined): readonly NavigationGroup[] {
  const at = (label: string, icon: Icon, page: string): NavigationLink => ({
    label,
    icon,
    to: `/a/${account}/${page}`,
  });
  const forRole = (needed: Role, ...links: readonly NavigationLink[]) =>
    covers(role, needed) ? links : [];
  return [
    {
      label: "Account",
      links: [
        at("Overview", IconChartBar, "overview"),
        at("Requests", IconList, "requests"),
        at("Keys", IconKey, "keys"),
        at("Models", IconBox, "models"),
        ...forRole("developer", at("Playground", IconTerminal2, "playground")),
        at("Billing", IconCreditCard, "billing"),
      ],
    },
    {
      label: "Access",
      links: [
        at("Members", IconUsers, "members"),
        ...forRole(
          "owner",
          at("Tokens", IconLock, "tokens"),
          at("Audit log", IconFileText, "audit"),
        ),
      ],
    },
  ];
}

function operatorNavigation(looksAtAll: boolean): readonly NavigationGroup[] {
  const at = (label: string, icon: Icon, page: string): NavigationLink => ({
    label,
    icon,
    to: `/operator/${page}`,
  });
  const business: NavigationGroup = {
    label: "Business",
    links: [
      at("Accounts", IconBuilding, "accounts"),
      at("Prices", IconTag, "prices"),
      at("Margin", IconTrendingUp, "margin"),
    ],
  };
  const serving: NavigationGroup = {
    label: "Models",
    links: [
      at("Providers", IconServer, "providers"),
      at("Catalog", IconLayoutGrid, "catalog"),
      at("Embedded engine", IconCpu, "engine"),
    ],
  };
  // With an account selected, the platform pages are hidden.
  if (!looksAtAll) return [];
  return [
    {
      label: "All accounts",
      links: [
        at("Overview", IconChartBar, "overview"),
        at("Requests", IconList, "requests"),
        at("Keys", IconKey, "keys"),
        at("Playground", IconTerminal2, "playground"),
      ],
    },
    serving,
    business,
    {
      label: "Platform",
      links: [
        at("People", IconUsers, "people"),
        at("Tokens", IconLock, "tokens"),
        at("Audit log", IconFileText, "audit"),
        at("Nodes", IconServer2, "nodes"),
        at("Settings", IconAdjustmentsHorizontal, "settings"),
      ],
    },
  ];
}
