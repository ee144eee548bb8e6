import { isIP } from "node:net";
import { ApiError } from "../../base/errors.ts";
import { hostOf, placeOf } from "./address.ts";

export interface CallerUrlOptions {
  /** The field that holds it. */
  readonly param: string;
  /** Whether the upstream may be given addresses to fetch at all. */
  readonly takesUrls: boolean;
}

/** Longer than the longest signed address of a store. */
const maxUrlChars = 8_192;

/**
 * An address that a caller names and an upstream may fetch, in the form to send on: a data URI as
 * it is, a public http(s) address as it was parsed. The text itself is never sent, because another
 * parser may find another host in it (`http://public.example\@127.0.0.1/`). Servers fetch from
 * where they stand: an address inside a network is refused, as far as its text shows that it is one.
 */
export function toCallerUrl(given: string, { param, takesUrls }: CallerUrlOptions): string {
  if (isDataUri(given)) return given;
  const url = given.length > maxUrlChars ? null : URL.parse(given);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw refusal(param, "must be an http(s) URL or a data URI");
  if (!takesUrls) throw refusal(param, "must be a data URI. This model does not accept image URLs");
  if (url.username !== "" || url.password !== "")
    throw refusal(param, "must not contain a user name or password");
  if (isInside(hostOf(url)))
    throw refusal(param, "must be a public URL. Otherwise send the image itself as a data URI");
  return url.href;
}

export const isDataUri = (text: string) => text.slice(0, 5).toLowerCase() === "data:";

function refusal(param: string, problem: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}

/** Zones that only a network's own name servers know. */
const insideZones =
  /(^|\.)(localhost|local|localdomain|internal|intranet|private|corp|home|lan|svc|home\.arpa)$/;
/** Public zones whose names resolve to the address that they spell, or to this machine. */
const spellingZones =
  /(^|\.)(nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/;
const spelledAddress = /(?:^|[.-])(\d{1,3}(?:\.\d{1,3}){3}|\d{1,3}(?:-\d{1,3}){3})(?=[.-]|$)/g;

function isInside(host: string): boolean {
  if (isIP(host) !== 0) return placeOf(host) !== "public";
  const name = host.replace(/\.+$/, "");
  // A name without a dot is one of the network in which it is looked up.
  if (!name.includes(".") || insideZones.test(name) || spellingZones.test(name)) return true;
  for (const [, spelled = ""] of name.matchAll(spelledAddress)) {
    const ip = spelled.replaceAll("-", ".");
    if (isIP(ip) !== 0 && placeOf(ip) !== "public") return true;
  }
  return false;
}
