import { call } from "./api.ts";

/**
 * A sign-in at the identity provider, while the browser is there. The ticket is kept where pages of
 * this origin alone can read it, for the page that the provider sends the browser back to.
 */
export interface IdentityFlow {
  readonly ticket: string;
  /** What the sign-in is for: to enter, or to connect a user who is signed in. */
  readonly kind: "enter" | "connect";
  /** Where to go afterwards. */
  readonly next: string;
}

const name = "svc-identity";

export async function leaveForProvider({ kind, next }: Omit<IdentityFlow, "ticket">) {
  const { url, ticket } = await call(
    kind === "enter" ? "POST /api/session/oidc" : "POST /api/me/identity",
  );
  localStorage.setItem(name, JSON.stringify({ ticket, kind, next } satisfies IdentityFlow));
  location.assign(url);
  // The browser is on its way: nothing here is done.
  await new Promise(() => {});
}

/** Once: a page that is loaded again finds none. */
export function takeIdentityFlow(): IdentityFlow | undefined {
  const text = localStorage.getItem(name);
  localStorage.removeItem(name);
  if (text === null) return undefined;
  try {
    // Only this file writes it.
    return JSON.parse(text) as IdentityFlow;
  } catch {
    return undefined;
  }
}
