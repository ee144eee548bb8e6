import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { type LoadPage, loadFrame, pages } from "./pages.ts";
import { lazyPart } from "./shell/lazy-part.tsx";
import { PageError, PageLoading } from "./shell/page-states.tsx";
import { Root } from "./shell/root.tsx";
import { Home, SignedIn } from "./shell/signed-in.tsx";
import { SignedOut } from "./shell/signed-out.tsx";

const root = createRootRoute({
  component: Root,
  // Plain text both ways: `?status=failed`, no quotes and no JSON.
  validateSearch: (search: Record<string, unknown>): Record<string, string | undefined> =>
    Object.fromEntries(
      Object.entries(search)
        // A filter that is taken away is gone; its text would be the word "undefined".
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, String(value)]),
    ),
});
const signedOut = createRoute({
  getParentRoute: () => root,
  id: "signed-out",
  component: SignedOut,
});
const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: lazyPart(async () => (await loadFrame()).Frame),
});
const signedIn = createRoute({ getParentRoute: () => frame, id: "signed-in", component: SignedIn });
const account = createRoute({ getParentRoute: () => signedIn, path: "/a/$account" });
const operator = createRoute({ getParentRoute: () => signedIn, path: "/operator" });

const lazy = (load: LoadPage) => lazyPart(async () => (await load()).Page);
const inSignedOut = <Path extends string>(path: Path, load: LoadPage) =>
  createRoute({ getParentRoute: () => signedOut, path, component: lazy(load) });
const inFrame = <Path extends string>(path: Path, load: LoadPage) =>
  createRoute({ getParentRoute: () => frame, path, component: lazy(load) });
const inAccount = <Path extends string>(path: Path, load: LoadPage) =>
  createRoute({ getParentRoute: () => account, path, component: lazy(load) });
const inOperator = <Path extends string>(path: Path, load: LoadPage) =>
  createRoute({ getParentRoute: () => operator, path, component: lazy(load) });

const accountIndex = createRoute({
  getParentRoute: () => account,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/a/$account/overview", params, replace: true });
  },
});
const operatorIndex = createRoute({
  getParentRoute: () => operator,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/operator/overview", replace: true });
  },
});

const routeTree = root.addChildren([
  signedOut.addChildren([
    inSignedOut("/sign-in", pages.signIn),
    inSignedOut("/sign-in/callback", pages.signInCallback),
    inSignedOut("/join", pages.join),
  ]),
  frame.addChildren([
    inFrame("/changelog", pages.changelog),
    inFrame("/reference", pages.reference),
    inFrame("$", pages.notFound),
    signedIn.addChildren([
      createRoute({ getParentRoute: () => signedIn, path: "/", component: Home }),
      createRoute({ getParentRoute: () => signedIn, path: "/me", component: lazy(pages.me) }),
      account.addChildren([
        accountIndex,
        inAccount("/overview", pages.overview),
        inAccount("/requests", pages.requests),
        inAccount("/requests/$request", pages.request),
        inAccount("/keys", pages.keys),
        inAccount("/models", pages.models),
        inAccount("/playground", pages.playground),
        inAccount("/billing", pages.billing),
        inAccount("/members", pages.members),
        inAccount("/tokens", pages.tokens),
        inAccount("/audit", pages.audit),
      ]),
      operator.addChildren([
        operatorIndex,
        // All accounts at once: the same pages, without an account.
        inOperator("/overview", pages.overview),
        inOperator("/requests", pages.requests),
        inOperator("/requests/$request", pages.request),
        inOperator("/keys", pages.operatorKeys),
        inOperator("/playground", pages.playground),
        inOperator("/tokens", pages.tokens),
        inOperator("/audit", pages.audit),
        inOperator("/providers", pages.operatorProviders),
        inOperator("/catalog", pages.operatorCatalog),
        inOperator("/catalog/$model", pages.operatorModel),
        inOperator("/prices", pages.operatorPrices),
        inOperator("/accounts", pages.operatorAccounts),
        inOperator("/accounts/$id", pages.operatorAccount),
        inOperator("/margin", pages.operatorMargin),
        inOperator("/engine", pages.operatorEngine),
        inOperator("/people", pages.operatorPeople),
        inOperator("/nodes", pages.operatorNodes),
        inOperator("/settings", pages.operatorSettings),
      ]),
    ]),
  ]),
]);

let shownPlace = "";

/**
 * Another page or section starts at its top, or where it was left. A filter of the same page leaves
 * it where it is: the router's own `resetScroll` mistakes one navigation for the other when two
 * overlap.
 */
function changesPlace({ pathname, hash }: { readonly pathname: string; readonly hash: string }) {
  const place = `${pathname}#${hash}`;
  const isOther = place !== shownPlace;
  shownPlace = place;
  // The router remembers where a page was left only if it was scrolled since the last navigation.
  if (!isOther) document.dispatchEvent(new Event("scroll"));
  return isOther;
}

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  scrollRestoration: ({ location }) => changesPlace(location),
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageError,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
    return text === "" ? "" : `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
