import { X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { connect, rootCertificates } from "node:tls";
import { isLoopback } from "../../base/network/address.ts";
import {
  type Certificate,
  coversName,
  namesOf,
  readCertificate,
} from "../../base/network/certificate.ts";
import { ownGatewayUrl, ownPlatformUrl } from "../../config/addresses.ts";
import type { Configuration } from "../../config/load.ts";
import type { Settings } from "../../config/settings.ts";
import { type Checks, within } from "./checks.ts";

const dayMs = 86_400_000;
/** Renewals come 30 days before the end; this late, one has failed. */
const soonMs = 21 * dayMs;
const probeMs = 5_000;

/** The certificate of SVC_TLS_CERT, and what clients see at the public addresses. */
export async function checkCertificates(
  checks: Checks,
  { settings }: Configuration,
): Promise<void> {
  const { tlsCert: certPath, tlsKey: keyPath, publicUrl, platformUrl } = settings;
  if (certPath === undefined || keyPath === undefined)
    checks.skipped("No certificate of its own (SVC_TLS_CERT is not set)");
  else {
    checkRights(checks, keyPath);
    checkOwn(checks, settings, () => readCertificate({ certPath, keyPath }));
  }
  const urls = [publicUrl, platformUrl].filter((url) => url?.startsWith("https:"));
  const origins = new Set(urls.map((url) => new URL(url ?? "").origin));
  await checks.sideBySide([...origins].map((origin) => (own) => checkPublic(own, origin)));
}

function checkRights(checks: Checks, keyPath: string): void {
  const found = statSync(keyPath, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o007) === 0) return;
  checks.warning(`Every user of this machine can read the key ${keyPath}.`, `chmod 600 ${keyPath}`);
}

function checkOwn(checks: Checks, settings: Settings, read: () => Certificate): void {
  let certificate: Certificate;
  try {
    certificate = read();
  } catch (error) {
    return checks.failed(error);
  }
  checks.ok("SVC_TLS_CERT and SVC_TLS_KEY belong together");
  const { own, startsMs, expiresMs } = certificate;
  if (startsMs > Date.now())
    checks.problem(
      `The certificate is not valid before ${toDay(startsMs)}.`,
      "Check the clock of this machine, or use a certificate that is valid now.",
    );
  const what = "The certificate in SVC_TLS_CERT";
  checkExpiry(checks, { what, expiresMs, advice: "Replace both files; no restart is needed." });
  checkChain(checks, certificate);
  for (const [setting, url] of addresses(settings)) {
    const { hostname } = new URL(url);
    if (coversName(own, hostname)) continue;
    checks.warning(
      `The certificate is not valid for ${hostname}, the host of ${setting}. It is valid for: ${namesOf(own).join(", ") || "no name"}.`,
      `Set ${setting} to an https address with one of these names, or request a certificate for ${hostname}.`,
    );
  }
}

/** What the console, links and `svc connect` give to clients. */
function addresses(settings: Settings): readonly (readonly [setting: string, url: string])[] {
  const { port, platformPort, publicUrl, platformUrl } = settings;
  return [
    ["SVC_PUBLIC_URL", publicUrl ?? ownGatewayUrl(settings, port)],
    ["SVC_PLATFORM_URL", platformUrl ?? ownPlatformUrl(settings, platformPort)],
  ];
}

function checkExpiry(
  checks: Checks,
  options: { readonly what: string; readonly expiresMs: number; readonly advice: string },
): void {
  const { what, expiresMs, advice } = options;
  const leftMs = expiresMs - Date.now();
  if (leftMs <= 0) return checks.problem(`${what} expired on ${toDay(expiresMs)}.`, advice);
  const days = Math.floor(leftMs / dayMs);
  const left = `${days} ${days === 1 ? "day" : "days"}`;
  if (leftMs < soonMs)
    return checks.warning(`${what} expires in ${left}, on ${toDay(expiresMs)}.`, advice);
  checks.ok(`${what} is valid until ${toDay(expiresMs)} (${left})`);
}

/** Most clients know authorities only, and not the certificates between them and a server. */
function checkChain(checks: Checks, { own, chain }: Certificate): void {
  const all = [own, ...chain];
  const broken = chain.findIndex((one, at) => all[at]?.checkIssued(one) !== true);
  if (broken !== -1)
    return checks.warning(
      `Certificate ${broken + 2} in SVC_TLS_CERT has not issued the one before it.`,
      "Put them in order: the server's own certificate, the one that issued it, and so on.",
    );
  const last = all.at(-1) ?? own;
  if (last.checkIssued(last)) {
    if (chain.length === 0)
      checks.warning(
        "The certificate is self-signed, so clients refuse it unless they were given it.",
        "Use one of an authority, or give the file to each client.",
      );
    return;
  }
  if (isKnown(last) || chain.length > 0) return;
  checks.warning(
    `SVC_TLS_CERT contains one certificate, and "${oneLine(last.issuer)}", which issued it, is not an authority that clients know.`,
    "Append the certificates between them (certbot: use fullchain.pem).",
  );
}

function isKnown(certificate: X509Certificate): boolean {
  return rootCertificates.some((pem) => {
    const root = new X509Certificate(pem);
    return root.subject === certificate.issuer && certificate.checkIssued(root);
  });
}

/** As clients see it: a proxy may have a certificate of its own. */
async function checkPublic(checks: Checks, origin: string): Promise<void> {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const shown = await within(probeMs, origin, certificateAt(host, Number(port || 443))).catch(
    () => undefined,
  );
  if (shown === undefined)
    return checks.warning(
      `Nothing responds with TLS at ${origin} from this machine.`,
      "Check the proxy, the firewall and the name's DNS entry. If only clients can reach it, check it from there.",
    );
  const { own, distrust } = shown;
  const advice = "Renew it where TLS ends for this address.";
  const expiresMs = Date.parse(own.validTo);
  checkExpiry(checks, { what: `The certificate at ${origin}`, expiresMs, advice });
  if (!coversName(own, host))
    return checks.problem(
      `The certificate at ${origin} is not valid for ${host}, but for: ${namesOf(own).join(", ") || "no name"}.`,
      "Use a certificate for this name there, or correct the address in the settings.",
    );
  if (distrust === undefined || expiresMs <= Date.now()) return;
  if (isLoopback(host)) return;
  checks.warning(
    `This machine does not trust the certificate at ${origin} (${distrust}).`,
    "If clients know its authority, all is well. Otherwise serve the whole chain there.",
  );
}

function certificateAt(
  host: string,
  port: number,
): Promise<{ readonly own: X509Certificate; readonly distrust: string | undefined }> {
  const { promise, resolve, reject } =
    Promise.withResolvers<Awaited<ReturnType<typeof certificateAt>>>();
  const isName = !/^[\d.]+$|:/.test(host);
  const socket = connect({
    host,
    port,
    rejectUnauthorized: false,
    timeout: probeMs,
    ...(isName ? { servername: host } : {}),
  });
  socket.once("error", reject);
  socket.once("timeout", () => socket.destroy(new Error("no answer in time")));
  socket.once("close", () => reject(new Error("closed")));
  socket.once("secureConnect", () => {
    const { raw } = socket.getPeerCertificate();
    const why: unknown = socket.authorizationError;
    const distrust = socket.authorized ? undefined : codeOf(why);
    resolve({ own: new X509Certificate(raw), distrust });
    socket.destroy();
  });
  return promise;
}

function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error) return String(error.code);
  return String(error);
}

const oneLine = (name: string) => name.replaceAll("\n", ", ");
const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
