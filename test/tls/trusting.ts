import { join } from "node:path";
import type { Certificate } from "../fake/certificate.ts";
import { createCertificateFolder } from "../processes/tls/certificate-files.ts";

/**
 * The lines that a script of this folder prints in a process of its own, which trusts the authority:
 * only where it starts can the runtime be told whom to trust.
 */
export async function linesOf(options: {
  readonly script: string;
  readonly words: readonly (string | number)[];
  readonly authority: Certificate;
}): Promise<readonly string[]> {
  const { script, words, authority } = options;
  const folder = createCertificateFolder(authority);
  try {
    const path = join(import.meta.dir, script);
    const child = Bun.spawn([process.execPath, path, ...words.map(String)], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: folder.environment.SVC_TLS_CERT },
      stdout: "pipe",
      stderr: "inherit",
    });
    return (await new Response(child.stdout).text()).trim().split("\n");
  } finally {
    folder.remove();
  }
}
