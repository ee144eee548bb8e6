import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { type Certificate, createCertificate } from "../../../test/fake/certificate.ts";
import type { Log } from "../log.ts";
import { CertificateSource } from "./certificate-source.ts";
import { Listener } from "./listener.ts";

const name = "models.example";
const old = createCertificate({ name });
const next = createCertificate({ name });
const expired = createCertificate({
  name,
  from: new Date(Date.now() - 200_000_000),
  until: new Date(Date.now() - 100_000_000),
});

let folder: string;
let lines: { readonly message: string; readonly reason?: unknown }[];
let source: CertificateSource;
let listener: Listener;
/** Lets the second half of each stream go. */
let release: () => void;

const files = () => ({ certPath: join(folder, "cert.pem"), keyPath: join(folder, "key.pem") });

function write({ cert, key }: Pick<Certificate, "cert" | "key">): void {
  writeFileSync(files().certPath, cert);
  writeFileSync(files().keyPath, key);
}

/** With files that nothing but the test looks at. */
function start(): void {
  const line = (message: string, fields = {}) => void lines.push({ message, ...fields });
  const log: Log = { debug: line, info: line, warn: line, error: line };
  source = new CertificateSource({ files: files(), log, nowMs: Date.now, everyMs: 0 });
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  listener = new Listener({
    place: { host: "127.0.0.1", port: 0, setting: "SVC_PORT" },
    certificate: source,
    serve: (options) =>
      Bun.serve({
        ...options,
        fetch: ({ url }) => new Response(url.endsWith("/stream") ? halves(promise) : "whole"),
      }),
  });
}

const halves = (until: Promise<void>) =>
  new ReadableStream({
    async start(controller) {
      controller.enqueue("first half, ");
      await until;
      controller.enqueue("second half");
      controller.close();
    },
  });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-listener-"));
  lines = [];
  write(old);
});
afterEach(async () => {
  source.close();
  await listener.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<TLSSocket> {
  const { port } = listener;
  const socket = connect({ host: "127.0.0.1", port, servername: name, rejectUnauthorized: false });
  await new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  return socket;
}

/** The certificate that a client sees. */
async function shown(): Promise<"old" | "next" | "expired" | "another"> {
  const socket = await open();
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  const is = ({ cert }: Certificate) =>
    cert.includes(raw.toString("base64").slice(0, 64)) &&
    cert.replaceAll("\n", "").includes(raw.toString("base64"));
  return is(old) ? "old" : is(next) ? "next" : is(expired) ? "expired" : "another";
}

const fetchText = (path: string) =>
  fetch(`https://127.0.0.1:${listener.port}${path}`, { tls: { rejectUnauthorized: false } });

test("new connections get a replaced certificate", async () => {
  start();
  expect(await shown()).toBe("old");
  write(next);
  source.look();
  expect(await shown()).toBe("next");
  expect(await (await fetchText("/")).text()).toBe("whole");
  expect(lines.map(({ message }) => message)).toEqual(["the TLS certificate was replaced"]);
});

test("a stream that runs while the certificate is replaced comes to its end", async () => {
  start();
  const reader = (await fetchText("/stream")).body?.getReader();
  const read = async () => new TextDecoder().decode((await reader?.read())?.value);
  expect(await read()).toBe("first half, ");
  write(next);
  source.look();
  write(old);
  source.look();
  expect(await shown()).toBe("old");
  expect(listener.pending).toBe(1);
  release();
  expect(await read()).toBe("second half");
  expect((await reader?.read())?.done).toBe(true);
});

test("links that are swapped count, as certbot and Kubernetes do it", async () => {
  for (const [version, { cert, key }] of [
    ["1", old],
    ["2", next],
  ] as const) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, "cert.pem"), cert);
    writeFileSync(join(folder, version, "key.pem"), key);
  }
  rmSync(files().certPath);
  rmSync(files().keyPath);
  symlinkSync("1", join(folder, "current"));
  symlinkSync("current/cert.pem", files().certPath);
  symlinkSync("current/key.pem", files().keyPath);
  start();
  expect(await shown()).toBe("old");
  symlinkSync("2", join(folder, "coming"));
  renameSync(join(folder, "coming"), join(folder, "current"));
  source.look();
  expect(await shown()).toBe("next");
});

test("a pair that is half written keeps the old one, and counts when it is whole", async () => {
  start();
  writeFileSync(files().certPath, next.cert);
  source.look();
  expect(await shown()).toBe("old");
  expect(lines).toEqual([]);
  writeFileSync(files().keyPath, next.key);
  source.look();
  expect(await shown()).toBe("next");
});

test.each([
  ["of another key", next.cert, old.key, "SVC_TLS_KEY: the key in "],
  ["that has expired", expired.cert, expired.key, "SVC_TLS_CERT: the certificate in "],
  ["that is empty", "", old.key, "SVC_TLS_CERT: "],
])("a certificate %s keeps the old one, and is logged once", async (_, cert, key, reason) => {
  start();
  write({ cert, key });
  for (let look = 0; look < 5; look++) source.look();
  expect(await shown()).toBe("old");
  expect(lines.map(({ message }) => message)).toEqual([
    "the TLS certificate on disk cannot be used; the old one stays",
  ]);
  expect(lines[0]?.reason).toStartWith(reason);
  write(next);
  source.look();
  expect(await shown()).toBe("next");
});

test("files that vanish keep the old one", async () => {
  start();
  rmSync(files().certPath);
  truncateSync(files().keyPath);
  for (let look = 0; look < 3; look++) source.look();
  expect(await shown()).toBe("old");
  expect(lines[0]?.reason).toBe(
    `SVC_TLS_CERT: ${files().certPath} does not exist. Set it to the path of a PEM file.`,
  );
});

test("an expired certificate is served at start, with a warning", async () => {
  write(expired);
  start();
  expect(await shown()).toBe("expired");
  expect(lines.map(({ message }) => message)).toEqual([
    "the TLS certificate has expired; clients will refuse it until it is replaced",
  ]);
});

test("once it stops, no certificate makes it listen again", async () => {
  start();
  const { port } = listener;
  await listener.stopAccepting();
  write(next);
  source.look();
  await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("a port that is shut opens again, with the certificate of that moment", async () => {
  start();
  const { port } = listener;
  const stream = await fetchText("/stream");
  await listener.shut();
  write(next);
  source.look();
  await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toThrow();
  listener.open();
  expect(await shown()).toBe("next");
  release();
  expect(await stream.text()).toBe("first half, second half");
});

test("a port that is opened while it is being shut stays open", async () => {
  start();
  const shutting = listener.shut();
  listener.open();
  await shutting;
  expect(await shown()).toBe("old");
});

test("a port in use is found with a certificate, too", () => {
  start();
  const serve = () => Bun.serve({ port: 0, fetch: () => new Response() });
  const place = { host: "127.0.0.1", port: listener.port, setting: "SVC_PORT" };
  expect(() => new Listener({ place, certificate: source, serve })).toThrow("already in use");
});

test("plain HTTP gets no reply from a listener with a certificate", async () => {
  start();
  await expect(fetch(`http://127.0.0.1:${listener.port}/`)).rejects.toThrow();
});
