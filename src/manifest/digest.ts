/** By which a start knows whether the config file has changed since it was last applied. */
export function manifestDigest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
