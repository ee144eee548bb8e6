import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate } from "../fake/certificate.ts";
import { startMailServer } from "../setup/mail-server.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const right = createCertificate({ name: "localhost", issuer: authority });
const other = createCertificate({ name: "other.example", issuer: authority });

test("mail goes over TLS and STARTTLS to a server with the certificate of its name, and to no other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-mail-tls-"));
  writeFileSync(join(folder, "authority.pem"), authority.cert);
  const [smtps, starttls, wrong] = await Promise.all([
    startMailServer({ secure: true, key: right.key, cert: right.cert }),
    startMailServer({ disabledCommands: [], key: right.key, cert: right.cert }),
    startMailServer({ secure: true, key: other.key, cert: other.cert }),
  ]);
  try {
    const urls = [
      `smtps://localhost:${smtps.port}`,
      `smtp://localhost:${starttls.port}`,
      `smtps://localhost:${wrong.port}`,
    ];
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "mail-calls.ts"), ...urls], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") },
      stdout: "pipe",
      stderr: "inherit",
    });
    const lines = (await new Response(child.stdout).text()).trim().split("\n");
    expect(lines).toEqual([
      "sent",
      "sent",
      expect.stringContaining("The certificate of the mail server is not valid"),
    ]);
    const counts = [smtps, starttls, wrong].map(({ received }) => received.length);
    expect(counts).toEqual([1, 1, 0]);
  } finally {
    for (const server of [smtps, starttls, wrong]) server.stop();
    rmSync(folder, { recursive: true });
  }
});
