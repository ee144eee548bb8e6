/** Whether passkeys work where the console was opened, and if not, why. */
export type PasskeyPlace =
  | { readonly kind: "ready" }
  /** An IP address of this machine, whose name is localhost: `href` is this page there. */
  | { readonly kind: "loopback"; readonly href: string }
  | { readonly kind: "address" | "insecure" | "unsupported" };

interface Place {
  readonly href: string;
  /** Whether the browser has passkeys, which it hides from pages that are not secure. */
  readonly hasPasskeys: boolean;
}

/** A passkey belongs to a host name, and browsers want https for it, except on localhost. */
export function passkeyPlaceOf({ href, hasPasskeys }: Place): PasskeyPlace {
  const url = new URL(href);
  const { protocol, hostname } = url;
  if (hostname.startsWith("127.") || hostname === "[::1]") {
    // Not the fragment, which can be the secret of a link.
    return { kind: "loopback", href: `${protocol}//localhost:${url.port}${url.pathname}` };
  }
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith("[")) return { kind: "address" };
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (protocol !== "https:" && !isLocal) return { kind: "insecure" };
  return { kind: hasPasskeys ? "ready" : "unsupported" };
}

export const passkeyPlace = (): PasskeyPlace =>
  passkeyPlaceOf({ href: location.href, hasPasskeys: "PublicKeyCredential" in window });
