import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../../../src/cli/doctor-wiring.ts";
import { type Certificate, createCertificate } from "../../fake/certificate.ts";
import { createHome, type Environment, type Home } from "../../setup/child.ts";
import { freePort } from "../../setup/platform-home.ts";
import { type CertificateFolder, createCertificateFolder } from "./certificate-files.ts";

setDefaultTimeout(60_000);

const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs + 3_600_000);
const authority = createCertificate({
  name: "authority.example",
  isAuthority: true,
  until: inDays(900),
});
const issued = (name: string, days: number, from = inDays(-30)) =>
  createCertificate({ name, issuer: authority, from, until: inDays(days) });
const withChain = ({ cert, ...rest }: Certificate) => ({ ...rest, cert: cert + authority.cert });
const good = withChain(issued("127.0.0.1", 90));

let home: Home;
let certificate: CertificateFolder;
beforeEach(() => {
  home = createHome({ isBare: true });
  certificate = createCertificateFolder(good);
});
afterEach(async () => {
  certificate.remove();
  await home.remove();
});

async function examine(environment: Environment = {}): Promise<readonly Check[]> {
  const { stdout } = await home.svc(["doctor", "--json"], { environment });
  return JSON.parse(stdout).checks;
}

/** What it says about certificates, without days and paths. */
async function certificates(environment: Environment = certificate.environment) {
  return (await examine(environment))
    .filter(({ group }) => group === "certificates")
    .map(({ state, finding }) => `${state}: ${finding}`)
    .map((text) => text.replaceAll(/\d{4}-\d\d-\d\d/g, "DAY").replaceAll(/\/\S+\//g, ""));
}

const pairs = "ok: SVC_TLS_CERT and SVC_TLS_KEY belong together";

test("a certificate that is in order has nothing to do", async () => {
  expect(await certificates()).toEqual([
    pairs,
    "ok: The certificate in SVC_TLS_CERT is valid until DAY (90 days)",
  ]);
  expect(await certificates({})).toEqual([
    "skipped: No certificate of its own (SVC_TLS_CERT is not set)",
  ]);
});

test("warns three weeks before it expires, and reports one that has", async () => {
  certificate.write(withChain(issued("127.0.0.1", 20)));
  expect(await certificates()).toEqual([
    pairs,
    "warning: The certificate in SVC_TLS_CERT expires in 20 days, on DAY.",
  ]);
  certificate.write(withChain(issued("127.0.0.1", -2)));
  expect(await certificates()).toEqual([
    pairs,
    "problem: The certificate in SVC_TLS_CERT expired on DAY.",
  ]);
  certificate.write(withChain(issued("127.0.0.1", 90, inDays(2))));
  expect((await certificates())[1]).toBe("problem: The certificate is not valid before DAY.");
});

test("reports a key of another certificate, and one that everybody can read", async () => {
  certificate.write({ cert: good.cert, key: issued("127.0.0.1", 90).key });
  chmodSync(certificate.environment.SVC_TLS_KEY, 0o644);
  expect(await certificates()).toEqual([
    "warning: Every user of this machine can read the key key.pem.",
    "problem: SVC_TLS_KEY: the key in key.pem does not belong to the first certificate in cert.pem. Use the key with which the certificate was requested.",
  ]);
});

test("reports names that clients would not accept", async () => {
  certificate.write(withChain(issued("models.example", 90)));
  const name = { SVC_PUBLIC_URL: "https://models.example:1" };
  const found = await certificates({ ...certificate.environment, ...name });
  expect(found.slice(2)).toEqual([
    "warning: The certificate is not valid for 127.0.0.1, the host of SVC_PLATFORM_URL. It is valid for: models.example.",
    "warning: Nothing responds with TLS at https://models.example:1 from this machine.",
  ]);
});

test("reports a chain that clients cannot follow", async () => {
  certificate.write(issued("127.0.0.1", 90));
  expect((await certificates()).at(-1)).toBe(
    'warning: SVC_TLS_CERT contains one certificate, and "CN=authority.example", which issued it, is not an authority that clients know.',
  );
  certificate.write(createCertificate({ name: "127.0.0.1", until: inDays(90) }));
  expect((await certificates()).at(-1)).toBe(
    "warning: The certificate is self-signed, so clients refuse it unless they were given it.",
  );
  const { cert, key } = issued("127.0.0.1", 90);
  certificate.write({ cert: cert + issued("other.example", 90).cert, key });
  expect((await certificates()).at(-1)).toBe(
    "warning: Certificate 2 in SVC_TLS_CERT has not issued the one before it.",
  );
});

test("looks at what clients see at the public address", async () => {
  const at = async ({ cert, key }: Certificate) => {
    const proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: { cert, key }, fetch: nothing });
    const environment = { SVC_PUBLIC_URL: `https://127.0.0.1:${proxy.port}` };
    const found = await certificates(environment);
    await proxy.stop(true);
    return found.slice(1).map((text) => text.replaceAll(/:\d+/g, ""));
  };
  const nothing = () => new Response();
  expect(await at(good)).toEqual([
    "ok: The certificate at https://127.0.0.1 is valid until DAY (90 days)",
  ]);
  expect(await at(issued("models.example", -2))).toEqual([
    "problem: The certificate at https://127.0.0.1 expired on DAY.",
    "problem: The certificate at https://127.0.0.1 is not valid for 127.0.0.1, but for: models.example.",
  ]);
  const closed = `https://127.0.0.1:${freePort()}`;
  expect((await certificates({ SVC_PUBLIC_URL: closed }))[1]).toStartWith(
    "warning: Nothing responds with TLS at",
  );
});

test("has other advice for each reason why the certificate of the collector is rejected", async () => {
  const file = join(home.dataDir, "..", "authority.pem");
  writeFileSync(file, authority.cert);
  const adviceFor = async ({ cert, key }: Certificate, extra = file) => {
    const fetch = () => Response.json({});
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: { cert, key }, fetch });
    const environment = {
      SVC_OTLP_URL: `https://127.0.0.1:${server.port}`,
      NODE_EXTRA_CA_CERTS: extra,
    };
    const found = (await examine(environment)).filter(({ group }) => group === "telemetry");
    await server.stop(true);
    return found.map(({ state, advice = "" }) => `${state}: ${advice}`.split(/(?<=\.) /)[0]);
  };
  expect(await adviceFor(issued("127.0.0.1", 90))).toEqual(["ok: "]);
  expect(await adviceFor(issued("127.0.0.1", 90), "")).toEqual([
    "problem: For an authority of your own, set NODE_EXTRA_CA_CERTS to the file of its certificate.",
  ]);
  expect(await adviceFor(issued("other.example", 90))).toEqual([
    "problem: Use a host name in SVC_OTLP_URL for which the certificate of the collector is valid.",
  ]);
  expect(await adviceFor(issued("127.0.0.1", -2))).toEqual([
    "problem: Renew the certificate of the collector, and check the clock of this machine.",
  ]);
  expect(await adviceFor(issued("127.0.0.1", 90, inDays(2)))).toEqual([
    "problem: Check the clock of this machine and of the collector.",
  ]);
});

test("with a certificate, nothing crosses a network in the clear", async () => {
  const environment = { SVC_HOST: "0.0.0.0", SVC_PLATFORM_HOST: "0.0.0.0" };
  const warnings = async (more: Environment) =>
    (await examine({ ...environment, ...more })).filter(
      ({ group, state }) => group === "listeners" && state === "warning",
    ).length;
  expect(await warnings({})).toBe(2);
  expect(await warnings(certificate.environment)).toBe(0);
});

test("sees a server that speaks TLS", async () => {
  const server = await home.serve(certificate.environment);
  const { port } = new URL(server.origin);
  const platformPort = new URL(server.platformUrl).port;
  const checks = await examine({
    SVC_PORT: port,
    SVC_PLATFORM_PORT: platformPort,
    ...certificate.environment,
  });
  expect(checks.filter(({ state }) => state === "problem")).toEqual([]);
  expect(checks.map(({ finding }) => finding)).toContain(
    `The gateway responds at 127.0.0.1:${port}`,
  );
});
