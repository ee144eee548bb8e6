import type { Demo } from "./demo.ts";

/** Every page of the console, as somebody comes to it. */
export interface ConsolePage {
  readonly name: string;
  readonly who: "nobody" | "owner" | "operator";
  readonly path: string;
}

export function consolePages({ account, served, failed }: Demo): readonly ConsolePage[] {
  const today = new Date().toISOString().slice(0, 10);
  const days = `from=${today}&to=${today}`;
  const own = (name: string, path: string): ConsolePage => ({
    name,
    who: "owner",
    path: `/a/${account}/${path}`,
  });
  const operators = (name: string, path: string): ConsolePage => ({
    name: `operator-${name}`,
    who: "operator",
    path: `/operator/${path}`,
  });
  return [
    { name: "sign-in", who: "nobody", path: "/sign-in" },
    { name: "sign-in-callback", who: "nobody", path: "/sign-in/callback?error=access_denied" },
    { name: "join", who: "nobody", path: "/join#gone" },
    { name: "changelog", who: "nobody", path: "/changelog" },
    { name: "reference", who: "nobody", path: "/reference" },
    { name: "not-found", who: "owner", path: "/nowhere" },
    { name: "me", who: "owner", path: "/me" },
    own("overview", "overview"),
    own("requests", "requests"),
    own("requests-days", `requests?${days}`),
    own("requests-rejected", "requests?outcome=rejected"),
    own("request", `requests/${served}`),
    own("request-failed", `requests/${failed}`),
    own("keys", "keys"),
    own("models", "models"),
    own("playground-chat", "playground"),
    own("playground-embeddings", "playground?mode=embeddings"),
    own("playground-speech", "playground?mode=speech"),
    own("billing", "billing"),
    own("members", "members"),
    own("tokens", "tokens"),
    own("audit", "audit"),
    operators("overview", "overview"),
    operators("overview-days", `overview?${days}`),
    operators("requests", "requests"),
    operators("requests-rejected", "requests?outcome=rejected"),
    operators("keys", "keys"),
    operators("playground", "playground"),
    operators("request", `requests/${failed}`),
    operators("providers", "providers"),
    operators("catalog", "catalog"),
    operators("model", "catalog/svc-2-flash"),
    operators("prices", "prices"),
    operators("accounts", "accounts"),
    operators("account", `accounts/${account}`),
    operators("margin", "margin"),
    operators("margin-days", `margin?range=days&${days}`),
    operators("engine", "engine"),
    operators("people", "people"),
    operators("nodes", "nodes"),
    operators("settings", "settings"),
    operators("tokens", "tokens"),
    operators("audit", "audit"),
  ];
}
