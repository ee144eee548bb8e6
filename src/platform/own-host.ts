import { isIP } from "node:net";
import { isLoopback } from "../base/network/address.ts";

export interface OwnHosts {
  /** The address or name that the platform listens on. */
  readonly listensOn: string;
  /** As people see it, where that is another one. */
  readonly publicUrl?: string | undefined;
}

/**
 * Whether a Host header names the platform. A page elsewhere can point its own name at this machine
 * and then read what a browser gets from here, so a request by any other name is not answered.
 */
export function isOwnHost(header: string | null, { listensOn, publicUrl }: OwnHosts): boolean {
  const name = nameIn(header ?? "");
  if (name === undefined) return false;
  if (isLoopback(name) || name === nameIn(bracketed(listensOn))) return true;
  if (publicUrl !== undefined && name === unbracketed(new URL(publicUrl).hostname)) return true;
  // If it listens on all interfaces, any IP address is accepted: DNS cannot fake one.
  const isEvery = listensOn === "0.0.0.0" || listensOn === "::";
  return isEvery && isIP(name) !== 0;
}

/** In the one form that browsers compare: lower case, an address as short as it can be. */
function nameIn(header: string): string | undefined {
  if (!/^(?:\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]]+)(?::\d{1,5})?$/i.test(header)) return undefined;
  const url = `http://${header}`;
  return URL.canParse(url) ? unbracketed(new URL(url).hostname) : undefined;
}

const bracketed = (host: string) => (host.includes(":") ? `[${host}]` : host);
const unbracketed = (hostname: string) => hostname.replace(/^\[(.*)\]$/, "$1");
