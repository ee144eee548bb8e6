import {
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";

/** Certificates made on the spot: a fixture would hold a key, and end on some day. */
export interface Certificate {
  readonly name: string;
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly name: string;
  /** Who signs it; itself unless told. */
  readonly issuer?: Certificate;
  readonly isAuthority?: boolean;
  readonly from?: Date;
  readonly until?: Date;
}

const dayMs = 86_400_000;

/** X.509 version 3, P-256, with the name as its only other name (an IPv4 address or a DNS name). */
export function createCertificate(options: CertificateOptions): Certificate {
  const { name, issuer, isAuthority = false } = options;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer: KeyObject = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const from = options.from ?? new Date(Date.now() - dayMs);
  const until = options.until ?? new Date(Date.now() + dayMs);
  const extensions = [subjectAltName(name), ...(isAuthority ? [authority] : [])];
  const content = sequence(
    element(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguished(issuer?.name ?? name),
    sequence(utcTime(from), utcTime(until)),
    distinguished(name),
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", content, signer);
  const whole = sequence(content, ecdsaWithSha256, bitString(signature));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    name,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const sequence = (...contents: readonly Uint8Array[]) => element(0x30, ...contents);
const integer = (bytes: Uint8Array) => element(0x02, bytes);
const octets = (bytes: Uint8Array) => element(0x04, bytes);
const isTrue = element(0x01, Buffer.from([0xff]));
const bitString = (bytes: Uint8Array) => element(0x03, Buffer.from([0]), bytes);
const object = (hex: string) => element(0x06, Buffer.from(hex, "hex"));
const ecdsaWithSha256 = sequence(object("2a8648ce3d040302"));
const authority = sequence(object("551d13"), isTrue, octets(sequence(isTrue)));

function distinguished(name: string): Buffer {
  const text = element(0x0c, Buffer.from(name));
  return sequence(element(0x31, sequence(object("550403"), text)));
}

function subjectAltName(name: string): Buffer {
  const isAddress = /^\d+(\.\d+){3}$/.test(name);
  const other = isAddress
    ? element(0x87, Buffer.from(name.split(".").map(Number)))
    : element(0x82, Buffer.from(name));
  return sequence(object("551d11"), octets(sequence(other)));
}

/** `YYMMDDhhmmssZ` */
function utcTime(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return element(0x17, Buffer.from(`${text}Z`));
}
