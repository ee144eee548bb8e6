import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import type { Certificate } from "../../fake/certificate.ts";

/** A certificate and its key where a server reads them. */
export interface CertificateFolder {
  readonly environment: { readonly SVC_TLS_CERT: string; readonly SVC_TLS_KEY: string };
  write(certificate: Pick<Certificate, "cert" | "key">): void;
  remove(): void;
}

export function createCertificateFolder(first: Certificate): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
  const environment = {
    SVC_TLS_CERT: join(folder, "cert.pem"),
    SVC_TLS_KEY: join(folder, "key.pem"),
  };
  const write: CertificateFolder["write"] = ({ cert, key }) => {
    writeFileSync(environment.SVC_TLS_CERT, cert);
    writeFileSync(environment.SVC_TLS_KEY, key, { mode: 0o600 });
  };
  write(first);
  return { environment, write, remove: () => rmSync(folder, { recursive: true }) };
}

/** The serial number that a new client of this address sees. */
export async function serialAt(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** How often the processes of a server have said that they replaced their certificate. */
export const replacements = (server: { stderr(): string }) =>
  server.stderr().split("the TLS certificate was replaced").length - 1;
