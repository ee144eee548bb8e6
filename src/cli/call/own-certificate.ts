import type { PeerCertificate } from "node:tls";
import { readOwnCertificate } from "../../base/network/certificate.ts";
import type { Settings } from "../../config/settings.ts";

/** What `fetch` takes as `tls`. */
export interface PinnedTls {
  readonly ca: string;
  readonly allowPartialTrustChain: true;
  readonly checkServerIdentity: (name: string, shown: PeerCertificate) => Error | undefined;
}

/**
 * The gateway of this machine shows the certificate of SVC_TLS_CERT. Nothing else is accepted, and
 * nothing else counts: commands connect to an address such as 127.0.0.1, for which it need not be
 * valid, and its authority may be known to its callers alone.
 */
export function pinnedTls({ tlsCert }: Pick<Settings, "tlsCert">): PinnedTls | undefined {
  if (tlsCert === undefined) return undefined;
  const { pem, own } = readOwnCertificate(tlsCert);
  return {
    ca: pem,
    allowPartialTrustChain: true,
    checkServerIdentity: (_, { fingerprint256 }) =>
      fingerprint256 === own?.fingerprint256
        ? undefined
        : new Error("the gateway shows another certificate than SVC_TLS_CERT"),
  };
}

/** Tools check the name in the certificate, so they need the address that is meant for callers. */
export function addressForTools(
  { tlsCert, publicUrl }: Pick<Settings, "tlsCert" | "publicUrl">,
  local: string,
): string {
  return tlsCert === undefined || publicUrl === undefined ? local : `${publicUrl}/v1`;
}
