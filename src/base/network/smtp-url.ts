import { isLoopback } from "./address.ts";

/** A mail server, as an address such as `smtps://user:password@mail.example.com` names it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (smtps), and not after STARTTLS. */
  readonly isTls: boolean;
  /** False only on this machine, where nobody reads along. */
  readonly needsTls: boolean;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

/** Undefined: this is no such address. User and password are percent-encoded. */
export function readSmtpUrl(text: string): SmtpServer | undefined {
  const url = URL.parse(text);
  const isTls = url?.protocol === "smtps:";
  if (url === null || !(isTls || url.protocol === "smtp:")) return undefined;
  const { hostname, port, pathname, search, hash } = url;
  const isBare = (pathname === "" || pathname === "/") && search === "" && hash === "";
  const user = decoded(url.username);
  const password = decoded(url.password);
  if (!isBare || hostname === "" || user === undefined || password === undefined) return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!/^[A-Za-z0-9.:_-]+$/.test(host)) return undefined;
  return {
    host,
    port: port === "" ? (isTls ? 465 : 587) : Number(port),
    isTls,
    needsTls: !isLoopback(host),
    login: user === "" ? undefined : { user, password },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
