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
  IconTag,
  IconTerminal2,
  IconTrendingUp,
  IconUsers,
} from "@tabler/icons-react";
import type { User } from "../../session.tsx";

export interface Place {
  readonly label: string;
  readonly icon: Icon;
  readonly to: string;
}

export interface PlaceGroup {
  readonly label: string;
  readonly places: readonly Place[];
}

const documents: PlaceGroup = {
  label: "Documents",
  places: [
    { label: "API reference", icon: IconBook, to: "/reference" },
    { label: "Changelog", icon: IconClock, to: "/changelog" },
  ],
};

/** Where one can go from here; the same list makes the sidebar and the command palette. */
export function placesFor(user: User | null, account: string | undefined): readonly PlaceGroup[] {
  if (user === null) return [documents];
  const groups = account === undefined ? [] : accountPlaces(account);
  return [...groups, ...(user.is_operator ? operatorPlaces(account === undefined) : []), documents];
}

function accountPlaces(account: string): readonly PlaceGroup[] {
  const at = (label: string, icon: Icon, page: string): Place => ({
    label,
    icon,
    to: `/a/${account}/${page}`,
  });
  return [
    {
      label: "Account",
      places: [
        at("Overview", IconChartBar, "overview"),
        at("Requests", IconList, "requests"),
        at("Keys", IconKey, "keys"),
        at("Models", IconBox, "models"),
        at("Playground", IconTerminal2, "playground"),
        at("Billing", IconCreditCard, "billing"),
      ],
    },
    {
      label: "Access",
      places: [
        at("Members", IconUsers, "members"),
        at("Tokens", IconLock, "tokens"),
        at("Audit log", IconFileText, "audit"),
      ],
    },
  ];
}

function operatorPlaces(looksAtAll: boolean): readonly PlaceGroup[] {
  const at = (label: string, icon: Icon, page: string): Place => ({
    label,
    icon,
    to: `/operator/${page}`,
  });
  const business: PlaceGroup = {
    label: "Business",
    places: [
      at("Accounts", IconBuilding, "accounts"),
      at("Prices", IconTag, "prices"),
      at("Margin", IconTrendingUp, "margin"),
    ],
  };
  const serving: PlaceGroup = {
    label: "Serving",
    places: [
      at("Providers", IconServer, "providers"),
      at("Catalogue", IconLayoutGrid, "catalog"),
      at("Embedded engine", IconCpu, "engine"),
    ],
  };
  // With an account chosen, what concerns all of them steps back.
  if (!looksAtAll) return [];
  return [
    {
      label: "All accounts",
      places: [at("Overview", IconChartBar, "overview"), at("Requests", IconList, "requests")],
    },
    serving,
    business,
    {
      label: "Platform",
      places: [
        at("People", IconUsers, "people"),
        at("Tokens", IconLock, "tokens"),
        at("Audit log", IconFileText, "audit"),
        at("Settings", IconAdjustmentsHorizontal, "settings"),
      ],
    },
  ];
}
