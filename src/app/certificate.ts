import type { Log } from "../base/log.ts";
import { CertificateSource } from "../base/network/certificate-source.ts";
import type { Configuration } from "../config/load.ts";
import type { Undo } from "./undo.ts";

/** The certificate of this process's listeners; undefined where SVC_TLS_CERT is not set. */
export function openCertificate(options: {
  readonly configuration: Configuration;
  readonly log: Log;
  readonly undo: Undo;
}): CertificateSource | undefined {
  const { configuration, log, undo } = options;
  const { tlsCert: certPath, tlsKey: keyPath } = configuration.settings;
  if (certPath === undefined || keyPath === undefined) return undefined;
  const source = new CertificateSource({ files: { certPath, keyPath }, log, nowMs: Date.now });
  undo.push(async () => source.close());
  return source;
}
