/** Each worker has listeners of its own, so each follows the certificate by itself. */

import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { createCertificate } from "../../fake/certificate.ts";
import { createHome } from "../../setup/child.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { createDatabase, dropDatabase } from "../../setup/postgres.ts";
import { createCertificateFolder, replacements, serialAt } from "./certificate-files.ts";

const serialOf = ({ cert }: { readonly cert: string }) => new X509Certificate(cert).serialNumber;

test("a replaced certificate reaches every worker and the platform", async () => {
  const [old, next] = [0, 1].map(() => createCertificate({ name: "127.0.0.1" }));
  if (old === undefined || next === undefined) throw new Error("no certificates");
  const url = await createDatabase();
  const certificate = createCertificateFolder(old);
  const home = createHome({ isBare: true });
  try {
    const environment = { SVC_DATABASE_URL: url, ...certificate.environment };
    const server = await home.serve(environment, { isProcess: true, flags: ["--workers", "2"] });
    const serials = async () => {
      // The kernel chooses a worker for each connection.
      const seen = await Promise.all(Array.from({ length: 32 }, () => serialAt(server.origin)));
      return new Set([...seen, await serialAt(server.platformUrl)]);
    };
    expect(await serials()).toEqual(new Set([serialOf(old)]));
    certificate.write(next);
    await waitUntil("a replaced certificate in each process", () => replacements(server) === 3);
    expect(await serials()).toEqual(new Set([serialOf(next)]));
    expect(await server.stop()).toBe(0);
  } finally {
    await home.remove();
    certificate.remove();
    await dropDatabase(url);
  }
});
