import type { PeerCertificate } from "node:tls";
import { readOwnCertificate } from "../../base/network/certificate.ts";
import { troubleOf } from "../../base/network/certificate-trouble.ts";
import { Problem } from "../../base/problem.ts";
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

/** Adds advice if the certificate is the reason. */
export function unreachable(options: {
  readonly gateway: {
    readonly baseUrl: string;
    /** Undefined for a gateway that --url names. */
    readonly models: unknown;
    readonly tls?: PinnedTls | undefined;
  };
  readonly cause: unknown;
  readonly reason: string;
}): Problem {
  const { gateway, cause, reason } = options;
  const text = `Cannot reach the gateway at ${gateway.baseUrl}: ${reason}`;
  const advice = certificateAdvice(gateway, cause);
  const message = advice === undefined ? text : `${text.replace(/\.?$/, ".")} ${advice}`;
  return new Problem({ code: "failed", message, cause });
}

function certificateAdvice(
  { tls, models }: Parameters<typeof unreachable>[0]["gateway"],
  cause: unknown,
): string | undefined {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const trouble = troubleOf(code);
  if (trouble === undefined) return undefined;
  if (trouble === "expired") return "Renew its certificate, and check the clock of this machine.";
  if (trouble === "notYetValid") return "Check the clock of this machine and of the server.";
  if (tls !== undefined) return "Run the command with the SVC_TLS_CERT that the server has.";
  if (models !== undefined)
    return "Run the command with the same SVC_TLS_CERT as the server, so that it knows its certificate.";
  return trouble === "otherName"
    ? "Use a name of the server in --url for which its certificate is valid."
    : "For an authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate.";
}

/** Tools check the name in the certificate, so they need the address that is meant for callers. */
export function addressForTools(
  { tlsCert, publicUrl }: Pick<Settings, "tlsCert" | "publicUrl">,
  local: string,
): string {
  return tlsCert === undefined || publicUrl === undefined ? local : `${publicUrl}/v1`;
}
