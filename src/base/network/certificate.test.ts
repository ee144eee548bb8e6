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

const notItsKey =
  "KEY: the key in /key.pem does not belong to the first certificate in /cert.pem. ";

test.each([
  ["a key of another certificate", one.cert, two.key, `${notItsKey}Use the key`],
  ["a wrong order", authority.cert + one.cert, one.key, `${notItsKey}Put the server's own`],
  ["a certificate that is none", "hello", one.key, "CERT: /cert.pem contains no PEM certificate."],
  ["a key in its place", one.key, one.key, "CERT: /cert.pem contains no PEM certificate."],
  ["a damaged certificate", damaged, one.key, "CERT: certificate 1 in /cert.pem is damaged"],
  ["a damaged chain", one.cert + damaged, one.key, "CERT: certificate 2 in /cert.pem is damaged"],
  ["a file without a key", one.cert, one.cert, "KEY: /key.pem contains no private key in PEM"],
  ["an encrypted key", one.cert, encrypted, "KEY: the key in /key.pem is encrypted."],
  ["an empty certificate", " ", one.key, "CERT: /cert.pem is empty."],
  ["an empty key", one.cert, "", "KEY: /key.pem is empty."],
])("refuses %s with the name of the setting, and says what to do", (_, cert, key, problem) => {
  const message = messageOf(filesWith(cert, key));
  expect(message).toStartWith(`SVC_TLS_${problem}`);
  expect(message).toMatch(/\. [A-Z][^.]+.*\.$/);
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
