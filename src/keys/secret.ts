/**
 * The secret of a key: `sk-svc-` + 40 random base62 characters + a 6-character checksum, so that a
 * mistyped or made-up key falls without a hash being computed.
 */
const prefix = "sk-svc-";
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 40;
const checksumLength = 6;
const secretLength = prefix.length + randomLength + checksumLength;

export function newKeySecret(): string {
  const body = prefix + randomBase62(randomLength);
  return body + checksum(body);
}

export function isWellFormed(secret: string): boolean {
  if (secret.length !== secretLength || !secret.startsWith(prefix)) return false;
  // Compared digit by digit, from the last: no string is built for a key that every request brings.
  let rest = Bun.hash.crc32(secret.slice(0, secretLength - checksumLength));
  for (let at = secretLength - 1; at >= secretLength - checksumLength; at--) {
    if (secret.charCodeAt(at) !== alphabet.charCodeAt(rest % 62)) return false;
    rest = Math.floor(rest / 62);
  }
  return true;
}

/** Keyed, so that a stolen table is of no use without the master secret. */
export function hashKeySecret(secret: string, hashKey: Uint8Array): string {
  return keySecretHasher(hashKey)(secret);
}

/** The same for many: a copy of a hasher that has its key already takes half the time (0.7 µs). */
export function keySecretHasher(hashKey: Uint8Array): (secret: string) => string {
  const keyed = new Bun.CryptoHasher("sha256", hashKey);
  return (secret) => keyed.copy().update(secret).digest("base64");
}

/** What may be shown of a key after it was created. */
export function keyHint(secret: string): string {
  return `${prefix}…${secret.slice(-4)}`;
}

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let text = "";
  for (let digit = 0; digit < checksumLength; digit++) {
    text = (alphabet[rest % 62] ?? "") + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length)
    // 248 is the largest multiple of 62 in a byte: what lies above would favour some characters.
    for (const byte of crypto.getRandomValues(new Uint8Array(length)))
      if (byte < 248 && text.length < length) text += alphabet[byte % 62] ?? "";
  return text;
}
