/** A server with a certificate of its own, and clients that check it. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificate } from "../../fake/certificate.ts";
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { type FakeUpstream, startFakeUpstream } from "../../fake/upstream.ts";
import { readMetrics } from "../../replies/metrics-text.ts";
import { type ChildServer, createHome, type Home } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { password } from "../../setup/platform-home.ts";
import {
  type CertificateFolder,
  createCertificateFolder,
  replacements,
  serialAt,
} from "./certificate-files.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const issued = () => createCertificate({ name: "127.0.0.1", issuer: authority });
const first = issued();
const serialOf = ({ cert }: { readonly cert: string }) => new X509Certificate(cert).serialNumber;
const tls = { ca: authority.cert };

let upstream: FakeUpstream;
let certificate: CertificateFolder;
let home: Home;
let server: ChildServer;
let current = first;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  certificate = createCertificateFolder(first);
  home = createHome();
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  server = await home.serve({ FAKE_KEY: "x", ...certificate.environment });
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await home.remove();
  certificate.remove();
  await upstream.stop();
});

const svc = (...words: string[]) => home.svc(words, { environment: certificate.environment });

const chat = () =>
  fetch(`${server.baseUrl}/chat/completions`, {
    method: "POST",
    tls,
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "svc-3-flash",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    }),
  });

const replaced = (times: number) =>
  waitUntil("a replaced certificate", () => replacements(server) >= times);

test("gateway and platform are served over https, with one certificate that clients can check", async () => {
  expect(server.baseUrl).toStartWith("https://127.0.0.1:");
  expect(server.platformUrl).toStartWith("https://127.0.0.1:");
  for (const url of [`${server.origin}/healthz`, `${server.platformUrl}/healthz`])
    expect((await fetch(url, { tls })).status).toBe(200);
  await expect(fetch(`${server.origin}/healthz`)).rejects.toThrow("certificate");
});

test("people sign in with cookies that are sent over https only", async () => {
  const [address = "", token] = server.operatorLink?.split("#") ?? [];
  expect(address).toStartWith("https://");
  const post = (path: string, body: unknown, origin = server.platformUrl) =>
    fetch(`${server.platformUrl}${path}`, {
      method: "POST",
      tls,
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify(body),
    });
  const email = "ada@example.com";
  const joined = await post("/api/invites/accept", { token, name: "Ada", email, password });
  expect(joined.status).toBe(200);
  const [cookie = ""] = joined.headers.getSetCookie();
  expect(cookie).toStartWith("__Host-svc_session=");
  expect(cookie).toContain("; Secure");
  const insecure = server.platformUrl.replace("https:", "http:");
  const asked = await post("/api/session", { email, password }, insecure.replace(/:\d+$/, ":1"));
  expect(asked.status).toBe(403);
  const page = await fetch(`${server.platformUrl}/sign-in`, { tls });
  expect(page.headers.get("strict-transport-security")).toBe("max-age=31536000");
});

test("commands of this machine accept the certificate of SVC_TLS_CERT alone", async () => {
  upstream.replyWith(chatStreams.openai());
  const { code, stderr, stdout } = await svc("chat", "Hi");
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  expect(stdout.length).toBeGreaterThan(1);
  const another = createCertificateFolder(issued());
  const refused = await home.svc(["chat", "Hi"], { environment: another.environment });
  another.remove();
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("Cannot reach the gateway at https://127.0.0.1:");
  expect(refused.stderr).toContain("Run the command with the SVC_TLS_CERT that the server has.");
});

test("a certificate of an own authority that is not known has a hint that helps", async () => {
  upstream.replyWith(chatStreams.openai());
  const without = await home.svc(["chat", "Hi"]);
  expect(without.code).toBe(1);
  expect(without.stderr).toContain(
    "Run the command with the same SVC_TLS_CERT as the server, so that it knows its certificate.",
  );
  const elsewhere = ["--url", server.baseUrl, "--key", server.key ?? "", "--model", "svc-3-flash"];
  const words = ["chat", "Hi", ...elsewhere];
  const unknown = await home.svc(words, { isProcess: true });
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain("set NODE_EXTRA_CA_CERTS to the file of its certificate");
  const path = join(home.dataDir, "authority.pem");
  writeFileSync(path, authority.cert);
  const environment = { NODE_EXTRA_CA_CERTS: path };
  const known = await home.svc(words, { isProcess: true, environment });
  expect([known.code, known.stderr]).toEqual([0, expect.any(String)]);
  const named = ["chat", "Hi", "--url", server.baseUrl.replace("127.0.0.1", "localhost")];
  const other = await home.svc([...named, ...elsewhere.slice(2)], { isProcess: true, environment });
  expect(other.stderr).toContain("Use a name of the server in --url");
  const until = new Date(Date.now() - 3_600_000);
  const tls = createCertificate({ name: "127.0.0.1", issuer: authority, until });
  const expired = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response() });
  const at = ["chat", "Hi", "--url", `https://127.0.0.1:${expired.port}`, ...elsewhere.slice(2)];
  const late = await home.svc(at, { isProcess: true, environment });
  await expired.stop(true);
  expect(late.stderr).toContain("Renew its certificate, and check the clock of this machine.");
});

test("tools get the public address, because they check the name in the certificate", async () => {
  const environment = { ...certificate.environment, SVC_PUBLIC_URL: "https://models.example.com" };
  const curl = await home.svc(["chat", "Hi", "--curl"], { environment });
  expect(curl.stdout).toContain("https://models.example.com/v1/chat/completions");
  const shown = await home.svc(["connect", "codex", "--model", "svc-3-flash"], { environment });
  expect(shown.stdout).toContain("https://models.example.com/v1");
  expect(shown.stdout).not.toContain("127.0.0.1");
});

test("a stream that runs while the certificate is replaced comes to its end", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.replyWith(pausedAfter({ recording: chatStreams.openai(), parts: 2, until: promise }));
  const reader = (await chat()).body?.getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader?.read())?.value);
  expect(text).toContain("data: ");
  expect(await serialAt(server.origin)).toBe(serialOf(first));
  current = issued();
  certificate.write(current);
  await replaced(1);
  expect(await serialAt(server.origin)).toBe(serialOf(current));
  expect(await serialAt(server.platformUrl)).toBe(serialOf(current));
  resolve();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read())
    text += decoder.decode(piece.value);
  expect(text).toEndWith("data: [DONE]\n\n");
}, 30_000);

test("a wrong pair keeps the one before, and says why", async () => {
  certificate.write({ cert: issued().cert, key: current.key });
  await server.waitForLog("the TLS certificate on disk cannot be used; the old one stays");
  expect(server.stderr()).toContain("does not belong to the first certificate in");
  expect(server.stderr()).not.toContain("PRIVATE KEY");
  expect(await serialAt(server.origin)).toBe(serialOf(current));
  upstream.replyWith(chatAnswers.plain());
  expect((await fetch(`${server.origin}/healthz`, { tls })).status).toBe(200);
  current = issued();
  certificate.write(current);
  await replaced(2);
  expect(await serialAt(server.origin)).toBe(serialOf(current));
  // The files are looked at every two seconds, and a wrong pair counts at the second look.
}, 30_000);

test("metrics show when the certificate in use expires", async () => {
  const text = await (await fetch(`${server.platformUrl}/metrics`, { tls })).text();
  const { value } = readMetrics(text).only("svc_tls_certificate_expiry_seconds", {});
  expect(value * 1000).toBe(Date.parse(new X509Certificate(current.cert).validTo));
});

test("settings that cannot work end the start with one sentence, and nothing listens", async () => {
  const { SVC_TLS_CERT, SVC_TLS_KEY } = certificate.environment;
  const other = createCertificateFolder(issued());
  const start = async (environment: Readonly<Record<string, string>>) => {
    const { code, stdout, stderr } = await home.svc(["serve"], {
      environment: { SVC_DATA_DIR: `${home.dataDir}-other`, ...environment },
    });
    expect(code).not.toBe(0);
    expect(stdout).not.toContain("gateway   http");
    return stderr;
  };
  expect(await start({ SVC_TLS_CERT })).toBe(
    "error: SVC_TLS_CERT is set without SVC_TLS_KEY. Set both, or unset SVC_TLS_CERT.\n",
  );
  expect(await start({ SVC_TLS_KEY })).toBe(
    "error: SVC_TLS_KEY is set without SVC_TLS_CERT. Set both, or unset SVC_TLS_KEY.\n",
  );
  const http = { SVC_PLATFORM_URL: "http://console.example.com" };
  expect(await start({ SVC_TLS_CERT, SVC_TLS_KEY, ...http })).toBe(
    "error: SVC_PLATFORM_URL must be an https address, because SVC_TLS_CERT is set.\n",
  );
  expect(await start({ SVC_TLS_CERT, SVC_TLS_KEY: other.environment.SVC_TLS_KEY })).toBe(
    `error: SVC_TLS_KEY: the key in ${other.environment.SVC_TLS_KEY} does not belong to the first certificate in ${SVC_TLS_CERT}. Use the key with which the certificate was requested.\n`,
  );
  expect(await start({ SVC_TLS_CERT: "/none/cert.pem", SVC_TLS_KEY })).toBe(
    "error: SVC_TLS_CERT: /none/cert.pem does not exist. Set it to the path of a PEM file.\n",
  );
  other.remove();
});
