import { readFileSync } from "node:fs";
import { type ConnectionOptions, checkServerIdentity } from "node:tls";
import { Problem } from "../../base/problem.ts";

/** What the address of a database says about TLS, in the words of libpq. */
export interface TlsChoice {
  /** Without TLS where the server has none. */
  readonly isOptional: boolean;
  readonly options: ConnectionOptions | false;
}

/** Files that the address names. */
export const tlsFiles = ["sslrootcert", "sslcert", "sslkey"] as const;
const known: readonly string[] = ["sslmode", "sslpassword", ...tlsFiles];

/**
 * Takes the words about TLS out of the address, because the driver would read them differently: its
 * `require` checks more than that of other clients, and its `ssl=0` wins over `sslmode`.
 */
export function takeTls(url: URL): TlsChoice {
  const asked = new Map([...url.searchParams].filter(([name]) => name.startsWith("ssl")));
  for (const name of asked.keys()) url.searchParams.delete(name);
  const unknown = [...asked.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalidUrl(`has ${unknown}, which is not supported. Use ${known.join(", ")}`);
  const mode = asked.get("sslmode") ?? "prefer";
  const isOptional = mode === "prefer" || mode === "allow";
  const server = checksOf(isOptional ? "require" : mode, asked.get("sslrootcert"), hostOf(url));
  return { isOptional, options: server && { ...server, ...ownCertificate(asked) } };
}

/** Without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, "$1");

/** How far the certificate of the server is checked. */
function checksOf(
  mode: string,
  rootCert: string | undefined,
  host: string,
): ConnectionOptions | false {
  const ca = rootCert === undefined ? {} : { ca: readFileSync(rootCert, "utf8") };
  switch (mode) {
    case "disable":
      return false;
    case "require":
      // With a certificate of its own, `require` checks it, as libpq does.
      return rootCert === undefined
        ? { rejectUnauthorized: false }
        : { ...ca, checkServerIdentity: () => undefined };
    case "verify-ca":
      return { ...ca, checkServerIdentity: () => undefined };
    case "verify-full":
      // Not by `servername`, which must not be an address.
      return { ...ca, checkServerIdentity: (_, shown) => checkServerIdentity(host, shown) };
    default:
      throw invalidUrl(
        `has sslmode=${mode}. Use disable, prefer, require, verify-ca or verify-full`,
      );
  }
}

/** What this side shows to a server that asks for a certificate. */
function ownCertificate(asked: ReadonlyMap<string, string>): ConnectionOptions {
  const [cert, key] = [asked.get("sslcert"), asked.get("sslkey")];
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined)
    throw invalidUrl(
      `has ${cert === undefined ? "sslkey without sslcert" : "sslcert without sslkey"}. Name both files`,
    );
  const passphrase = asked.get("sslpassword");
  return {
    cert: readFileSync(cert, "utf8"),
    key: readFileSync(key, "utf8"),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

const invalidUrl = (what: string) =>
  new Problem({ code: "invalid", message: `SVC_DATABASE_URL ${what}.` });
