import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { Problem } from "../problem.ts";
import { readSecretFile, SecretFileTrouble } from "../secret-file.ts";

/** Where a certificate and its key are. */
export interface CertificateFiles {
  readonly certPath: string;
  readonly keyPath: string;
}

/** A certificate that a listener can use, checked against its key. */
export interface Certificate {
  /** PEM: the server's own certificate, then those between it and an authority. */
  readonly cert: string;
  readonly key: string;
  readonly own: X509Certificate;
  /** Those after the first one. */
  readonly chain: readonly X509Certificate[];
  readonly startsMs: number;
  readonly expiresMs: number;
}

/** What the two files contain, before anything is known about it. */
export type CertificateTexts = Pick<Certificate, "cert" | "key">;

const settings = { cert: "SVC_TLS_CERT", key: "SVC_TLS_KEY" } as const;

/** Links are followed: certbot and Kubernetes replace a certificate by another link. */
export function readCertificateFiles({ certPath, keyPath }: CertificateFiles): CertificateTexts {
  return { cert: readPart("cert", certPath), key: readPart("key", keyPath) };
}

/** What clients of this machine compare with; the key is not needed for it. */
export function readOwnCertificate(certPath: string): {
  readonly pem: string;
  readonly own: X509Certificate | undefined;
} {
  const pem = readPart("cert", certPath);
  return { pem, own: certificatesIn(pem, certPath)[0] };
}

/** Reads both files and checks them. A Problem says what is wrong, and with which setting. */
export const readCertificate = (files: CertificateFiles): Certificate =>
  toCertificate(readCertificateFiles(files), files);

/** A pair that cannot work is refused; one that has expired is the caller's to judge. */
export function toCertificate(
  { cert, key }: CertificateTexts,
  { certPath, keyPath }: CertificateFiles,
): Certificate {
  const [own, ...chain] = certificatesIn(cert, certPath);
  if (own === undefined)
    throw wrong("cert", `${certPath} contains no PEM certificate`, "Set it to the PEM file.");
  const privateKey = keyIn(key, keyPath);
  if (!own.checkPrivateKey(privateKey)) {
    const isLater = chain.some((one) => one.checkPrivateKey(privateKey));
    throw wrong(
      "key",
      `the key in ${keyPath} does not belong to the first certificate in ${certPath}`,
      isLater
        ? "Put the server's own certificate first in that file."
        : "Use the key with which the certificate was requested.",
    );
  }
  const startsMs = Date.parse(own.validFrom);
  const expiresMs = Date.parse(own.validTo);
  return { cert, key, own, chain, startsMs, expiresMs };
}

/** Names and addresses that the certificate is valid for, such as `*.example.com` and `127.0.0.1`. */
export function namesOf({ subjectAltName = "" }: X509Certificate): readonly string[] {
  return subjectAltName
    .split(", ")
    .map((entry) => /^(?:DNS|IP Address):(.*)$/.exec(entry)?.[1] ?? "")
    .filter((name) => name !== "");
}

/** Whether a client that connects by this name or address, in brackets or without, accepts it. */
export function coversName(certificate: X509Certificate, hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return (
    certificate.checkHost(bare) !== undefined ||
    (/^[\d.]+$|:/.test(bare) && certificate.checkIP(bare) !== undefined)
  );
}

function readPart(part: keyof typeof settings, path: string): string {
  try {
    return readSecretFile(path).text;
  } catch (error) {
    if (!(error instanceof SecretFileTrouble)) throw error;
    throw wrong(part, `${path} ${error.message}`, adviceFor(error.message));
  }
}

const adviceFor = (trouble: string) =>
  trouble.includes("this user")
    ? "Give the user who runs the server the right to read it."
    : "Set it to the path of a PEM file.";

const block = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END [A-Z0-9 ]+-----/g;

function certificatesIn(text: string, path: string): readonly X509Certificate[] {
  return (text.match(block) ?? []).map((pem, index) => {
    try {
      return new X509Certificate(pem);
    } catch (cause) {
      throw wrong(
        "cert",
        `certificate ${index + 1} in ${path} is damaged or incomplete`,
        "Copy the file again.",
        cause,
      );
    }
  });
}

function keyIn(text: string, path: string): KeyObject {
  if (/^-----BEGIN ENCRYPTED |^Proc-Type: .*ENCRYPTED/m.test(text))
    throw wrong(
      "key",
      `the key in ${path} is encrypted`,
      "Store it without a passphrase, readable only for the user who runs the server.",
    );
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw wrong(
      "key",
      `${path} contains no private key in PEM format`,
      "Set it to the PEM file of the certificate's key.",
      cause,
    );
  }
}

function wrong(
  part: keyof typeof settings,
  what: string,
  advice: string,
  cause?: unknown,
): Problem {
  return new Problem({ code: "invalid", message: `${settings[part]}: ${what}. ${advice}`, cause });
}
