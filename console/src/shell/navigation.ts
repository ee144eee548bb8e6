import type { IconName } from "../components/layout/icons.tsx";
import type { User } from "../session.tsx";

export interface Place {
  readonly label: string;
  readonly icon: IconName;
  readonly to: string;
}

export interface PlaceGroup {
  readonly label: string;
  readonly places: readonly Place[];
}

const documents: PlaceGroup = {
  label: "Documents",
  places: [
    { label: "API reference", icon: "reference", to: "/reference" },
    { label: "Changelog", icon: "changelog", to: "/changelog" },
  ],
};

/** Where one can go from here; the same list makes the sidebar and the command palette. */
export function placesFor(user: User | null, account: string | undefined): readonly PlaceGroup[] {
  if (user === null) return [documents];
  const groups = account === undefined ? [] : accountPlaces(account);
  return [...groups, ...(user.is_operator ? operatorPlaces(account === undefined) : []), documents];
}

function accountPlaces(account: string): readonly PlaceGroup[] {
  const at = (label: string, icon: IconName, page: string): Place => ({
    label,
    icon,
    to: `/a/${account}/${page}`,
  });
  return [
    {
      label: "Account",
      places: [
        at("Overview", "overview", "overview"),
        at("Requests", "requests", "requests"),
        at("Keys", "key", "keys"),
        at("Models", "model", "models"),
        at("Playground", "playground", "playground"),
        at("Billing", "billing", "billing"),
      ],
    },
    {
      label: "Access",
      places: [
        at("Members", "members", "members"),
        at("Tokens", "token", "tokens"),
        at("Audit log", "audit", "audit"),
      ],
    },
  ];
}

function operatorPlaces(looksAtAll: boolean): readonly PlaceGroup[] {
  const at = (label: string, icon: IconName, page: string): Place => ({
    label,
    icon,
    to: `/operator/${page}`,
  });
  const business: PlaceGroup = {
    label: "Business",
    places: [
      at("Accounts", "account", "accounts"),
      at("Prices", "price", "prices"),
      at("Margin", "margin", "margin"),
    ],
  };
  const serving: PlaceGroup = {
    label: "Serving",
    places: [
      at("Providers", "provider", "providers"),
      at("Catalogue", "catalog", "catalog"),
      at("Embedded engine", "engine", "engine"),
    ],
  };
  // With an account chosen, what concerns all of them steps back.
  if (!looksAtAll) return [];
  return [
    {
      label: "All accounts",
      places: [at("Overview", "overview", "overview"), at("Requests", "requests", "requests")],
    },
    serving,
    business,
    {
      label: "Platform",
      places: [
        at("People", "members", "people"),
        at("Tokens", "token", "tokens"),
        at("Audit log", "audit", "audit"),
        at("Settings", "settings", "settings"),
      ],
    },
  ];
}
