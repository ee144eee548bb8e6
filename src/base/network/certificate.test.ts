import { afterAll, beforeAll, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate } from "../../../test/fake/certificate.ts";
import { Problem } from "../problem.ts";
import { coversName, namesOf, readCertificate } from "./certificate.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const one = createCertificate({ name: "one.example", issuer: authority });
const two = createCertificate({ name: "two.example", issuer: authority });
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-certificate-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function filesWith(cert: string, key: string) {
  const files = { certPath: join(folder, "cert.pem"), keyPath: join(folder, "key.pem") };
  writeFileSync(files.certPath, cert);
  writeFileSync(files.keyPath, key);
  return files;
}

function messageOf(files: Parameters<typeof readCertificate>[0]): string {
  try {
    readCertificate(files);
  } catch (error) {
    if (error instanceof Problem) return error.message.replaceAll(folder, "");
    throw error;
  }
  throw new Error("it was read");
}

test("reads a certificate with its chain", () => {
  const { own, chain, expiresMs } = readCertificate(filesWith(one.cert + authority.cert, one.key));
  expect(own.subject).toBe("CN=one.example");
  expect(chain.map(({ subject }) => subject)).toEqual(["CN=authority.example"]);
  expect(expiresMs).toBe(Date.parse(new X509Certificate(one.cert).validTo));
});

const encrypted = one.key.replaceAll("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
const damaged = one.cert.replace(/\n.{64}\n/, "\n");

test.each([
  [
    "a key of another certificate",
    one.cert,
    two.key,
    "SVC_TLS_KEY: the key in /key.pem does not belong to the first certificate in /cert.pem. Use the key with which the certificate was requested.",
  ],
  [
    "a chain in the wrong order",
    authority.cert + one.cert,
    one.key,
    "SVC_TLS_KEY: the key in /key.pem does not belong to the first certificate in /cert.pem. Put the server's own certificate first in that file.",
  ],
  [
    "a certificate that is none",
    "hello",
    one.key,
    "SVC_TLS_CERT: /cert.pem contains no PEM certificate. Set it to the PEM file.",
  ],
  [
    "a key in place of the certificate",
    one.key,
    one.key,
    "SVC_TLS_CERT: /cert.pem contains no PEM certificate. Set it to the PEM file.",
  ],
  [
    "a damaged certificate",
    damaged,
    one.key,
    "SVC_TLS_CERT: certificate 1 in /cert.pem is damaged or incomplete. Copy the file again.",
  ],
  [
    "a damaged chain",
    one.cert + damaged,
    one.key,
    "SVC_TLS_CERT: certificate 2 in /cert.pem is damaged or incomplete. Copy the file again.",
  ],
  [
    "a file without a key",
    one.cert,
    one.cert,
    "SVC_TLS_KEY: /key.pem contains no private key in PEM format. Set it to the PEM file of the certificate's key.",
  ],
  [
    "an encrypted key",
    one.cert,
    encrypted,
    "SVC_TLS_KEY: the key in /key.pem is encrypted. Store it without a passphrase, readable only for the user who runs the server.",
  ],
  [
    "an empty certificate",
    " ",
    one.key,
    "SVC_TLS_CERT: /cert.pem is empty. Set it to the path of a PEM file.",
  ],
  [
    "an empty key",
    one.cert,
    "",
    "SVC_TLS_KEY: /key.pem is empty. Set it to the path of a PEM file.",
  ],
])("refuses %s in one sentence that names the setting", (_, cert, key, message) => {
  expect(messageOf(filesWith(cert, key))).toBe(message);
});

test("refuses files that are not there, and folders", () => {
  const files = filesWith(one.cert, one.key);
  expect(messageOf({ ...files, certPath: join(folder, "none") })).toBe(
    "SVC_TLS_CERT: /none does not exist. Set it to the path of a PEM file.",
  );
  expect(messageOf({ ...files, keyPath: folder })).toBe(
    "SVC_TLS_KEY:  is a directory. Set it to the path of a PEM file.",
  );
});

test("knows which names and addresses a certificate is valid for", () => {
  const named = new X509Certificate(createCertificate({ name: "*.models.example" }).cert);
  expect(namesOf(named)).toEqual(["*.models.example"]);
  expect(coversName(named, "api.models.example")).toBe(true);
  expect(coversName(named, "models.example")).toBe(false);
  const numbered = new X509Certificate(createCertificate({ name: "127.0.0.1" }).cert);
  expect(namesOf(numbered)).toEqual(["127.0.0.1"]);
  expect(coversName(numbered, "127.0.0.1")).toBe(true);
  expect(coversName(numbered, "localhost")).toBe(false);
  expect(coversName(numbered, "[::1]")).toBe(false);
});
