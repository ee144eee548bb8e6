import type { ComponentType } from "react";

/** What a page's file gives: one component, named Page. */
export type LoadPage = () => Promise<{ readonly Page: ComponentType }>;

type PageName =
  | "overview"
  | "requests"
  | "request"
  | "keys"
  | "models"
  | "playground"
  | "billing"
  | "members"
  | "tokens"
  | "audit"
  | "operatorKeys"
  | "operatorProviders"
  | "operatorCatalog"
  | "operatorModel"
  | "operatorPrices"
  | "operatorAccounts"
  | "operatorAccount"
  | "operatorMargin"
  | "operatorEngine"
  | "operatorPeople"
  | "operatorNodes"
  | "operatorSettings"
  | "changelog"
  | "reference"
  | "signIn"
  | "signInCallback"
  | "join"
  | "me"
  | "notFound";

/** What is around the pages of one who has signed in: nobody at the door has to wait for it. */
export const loadFrame: () => Promise<{ readonly Frame: ComponentType }> = () =>
  import("./shell/frame.tsx");

/**
 * Each page is a file of its own, loaded when it is first opened. The type is written out: were it
 * inferred, the router's type would depend on pages that link to each other by it.
 */
export const pages: Readonly<Record<PageName, LoadPage>> = {
  overview: () => import("./pages/overview/page.tsx"),
  requests: () => import("./pages/requests/page.tsx"),
  request: () => import("./pages/request/page.tsx"),
  keys: () => import("./pages/keys/page.tsx"),
  models: () => import("./pages/models/page.tsx"),
  playground: () => import("./pages/playground/page.tsx"),
  billing: () => import("./pages/billing/page.tsx"),
  members: () => import("./pages/members/page.tsx"),
  tokens: () => import("./pages/tokens/page.tsx"),
  audit: () => import("./pages/audit/page.tsx"),
  operatorKeys: () => import("./pages/operator/keys/page.tsx"),
  operatorProviders: () => import("./pages/operator/providers/page.tsx"),
  operatorCatalog: () => import("./pages/operator/catalog/page.tsx"),
  operatorModel: () => import("./pages/operator/model/page.tsx"),
  operatorPrices: () => import("./pages/operator/prices/page.tsx"),
  operatorAccounts: () => import("./pages/operator/accounts/page.tsx"),
  operatorAccount: () => import("./pages/operator/account/page.tsx"),
  operatorMargin: () => import("./pages/operator/margin/page.tsx"),
  operatorEngine: () => import("./pages/operator/engine/page.tsx"),
  operatorPeople: () => import("./pages/operator/people/page.tsx"),
  operatorNodes: () => import("./pages/operator/nodes/page.tsx"),
  operatorSettings: () => import("./pages/operator/settings/page.tsx"),
  changelog: () => import("./pages/changelog/page.tsx"),
  reference: () => import("./pages/reference/page.tsx"),
  signIn: () => import("./pages/sign-in/page.tsx"),
  signInCallback: () => import("./pages/sign-in/callback.tsx"),
  join: () => import("./pages/join/page.tsx"),
  me: () => import("./pages/me/page.tsx"),
  notFound: () => import("./pages/not-found/page.tsx"),
};
