import { isLoopback } from "../../base/network/address.ts";
import { covers, mayEnter } from "../../people/role.ts";
import { isRecent } from "../../people/session-policy.ts";
import type { Actor } from "./context.ts";
import { Refused } from "./refusal.ts";
import type { Access, Route } from "./route.ts";

/** Of a session, and of a sign-in that lacks its second step. */
const cookieNames = { session: "svc_session", signIn: "svc_sign_in" };
type CookieKind = keyof typeof cookieNames;
const nameOf = (kind: CookieKind, isSecure: boolean) =>
  `${isSecure ? "__Host-" : ""}${cookieNames[kind]}`;

export interface Cookie {
  readonly kind: CookieKind;
  readonly value: string;
  readonly ageMs: number;
}

export const endedCookie = (kind: CookieKind): Cookie => ({ kind, value: "", ageMs: 0 });

/** Strict: no other site's link or form brings it along; scripts cannot read it. */
export function toCookie({ kind, value, ageMs }: Cookie, isSecure: boolean): string {
  const name = nameOf(kind, isSecure);
  const ageS = Math.ceil(ageMs / 1_000);
  return `${name}=${value}; Path=/; Max-Age=${ageS}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

export function readCookie(
  request: Request,
  kind: CookieKind,
  isSecure: boolean,
): string | undefined {
  const wanted = `${nameOf(kind, isSecure)}=`;
  const pair = (request.headers.get("cookie") ?? "")
    .split(";")
    .map((text) => text.trim())
    .find((text) => text.startsWith(wanted));
  return pair?.slice(wanted.length);
}

/** Both are sent by the console's own pages: see SessionSecrets. */
const bindingHeader = "x-svc-session";
const deviceHeader = "x-svc-device";

export const bindingIn = (request: Request) => request.headers.get(bindingHeader);
export const deviceIn = (request: Request) => request.headers.get(deviceHeader);

/** Browsers say where a page's request comes from, and no page can keep them from it. */
export function isBrowser({ headers }: Request): boolean {
  return headers.has("origin") || headers.has("sec-fetch-site");
}

export function bearerOf(request: Request): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}

/**
 * A page of another origin must not change anything with its visitor's cookie. Browsers send the
 * origin of such a request; other clients send a cookie only on purpose.
 */
export function checkOrigin(request: Request, publicUrl: string): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOurs =
    origin === null
      ? site === null || site === "same-origin" || site === "none"
      : origin === publicUrl || isSameHost(origin, request, publicUrl);
  if (!isOurs)
    throw new Refused({
      status: 403,
      code: "wrong_origin",
      message: `Requests from ${origin ?? "other sites"} are not allowed. If people open the platform at an address other than ${publicUrl}, set SVC_PLATFORM_URL to that address.`,
    });
}

/**
 * Accepts any address of the platform. Not if its public URL is https: an attacker on the network
 * could serve a page from the same host over http. Loopback has no such network. With TLS of its
 * own and no public address, the platform has any of its addresses over https.
 */
function isSameHost(origin: string, request: Request, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, hostname, protocol } = new URL(origin);
  if (host !== request.headers.get("host")) return false;
  if (!publicUrl.startsWith("https:") || isLoopback(hostname)) return true;
  return protocol === "https:" && isLoopback(new URL(publicUrl).hostname);
}

/** Whether an actor may use a route, for the account that it names. */
export function checkAccess(route: Route, actor: Actor | undefined, accountId?: string): void {
  const { access } = route;
  if (access === "anyone") return;
  if (actor === undefined)
    throw new Refused({
      status: 401,
      code: "not_signed_in",
      message: "Sign in, or send a platform token as Authorization: Bearer.",
    });
  if (actor.kind === "token") checkScopes(route, actor);
  else if (actor.person.mustAddFactor && route.isForSetup !== true)
    throw new Refused({
      status: 403,
      code: "second_factor_required",
      message:
        "You need a second factor here. Set up an authenticator app or a passkey in the console first.",
    });
  if (access === "person") return;
  if (isOperator(actor)) return;
  const role = accountId === undefined ? undefined : roleIn(actor, accountId);
  // An actor without a membership does not learn whether the account exists.
  if (access !== "operator" && role === undefined) throw noAccount();
  if (access === "operator" || role === undefined || !covers(role, access))
    throw notAllowed(
      `This requires the ${needed[access]} role${role === undefined ? "" : `. Your role is ${role}`}.`,
    );
}

/**
 * Changes to how a user signs in, and changes that grant rights, need a recent proof of identity.
 * Programs with a token cannot give one.
 */
export function checkRecent(actor: Actor | undefined, nowMs: number): void {
  if (actor?.kind !== "person") return;
  if (isRecent(actor.person.session, nowMs)) return;
  throw new Refused({
    status: 403,
    code: "verification_required",
    message:
      "Confirm first that it is you: send a code, a passkey, or your password if you have no second factor, to POST /api/me/verify.",
  });
}

/** The origin of the page that asks; it was checked before, since only a POST may ask for it. */
export function pageOrigin(request: Request, publicUrl: string): string {
  const host = request.headers.get("host") ?? "";
  const origin = request.headers.get("origin") ?? `http://${host}`;
  const isPublic = new URL(publicUrl).host === host || !URL.canParse(origin);
  return isPublic ? publicUrl : new URL(origin).origin;
}

const needed: Readonly<Record<Exclude<Access, "anyone" | "person">, string>> = {
  operator: "operator",
  owner: "account owner",
  developer: "account developer",
  viewer: "account viewer",
};

const notAllowed = (message: string) => new Refused({ status: 403, code: "not_allowed", message });

export const noAccount = () =>
  new Refused({
    status: 404,
    code: "not_found",
    message: "This account does not exist, or you have no access to it.",
  });

export function isOperator(actor: Actor | undefined): boolean {
  if (actor === undefined) return false;
  return actor.kind === "person" ? actor.person.user.isOperator : actor.token.role === "operator";
}

export const isOwner = (actor: Actor | undefined, accountId: string): boolean =>
  actor !== undefined && roleIn(actor, accountId) === "owner";

function roleIn(actor: Actor, accountId: string) {
  if (actor.kind === "person")
    return actor.person.memberships.find((one) => one.accountId === accountId)?.role;
  const { token } = actor;
  return token.accountId === accountId && token.role !== "operator" ? token.role : undefined;
}

function checkScopes(route: Route, { token }: Extract<Actor, { kind: "token" }>): void {
  const isWrite = !route.name.startsWith("GET ");
  const { area } = route;
  if (area === undefined) throw notAllowed("Tokens cannot do this. Sign in instead.");
  if (!mayEnter(token.scopes, area, isWrite))
    throw notAllowed(`This requires a token with the scope ${area}:${isWrite ? "write" : "read"}.`);
}
