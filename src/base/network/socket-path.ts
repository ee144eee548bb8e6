import { tmpdir } from "node:os";
import { join } from "node:path";

/** A socket's path has at most about 100 characters: a deeper data directory gets a short one. */
export function socketPath(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  if (Buffer.byteLength(path) <= 100) return path;
  const digest = new Bun.CryptoHasher("sha256").update(dataDir).digest("hex").slice(0, 16);
  return join(tmpdir(), `svc-${ownUid()}-${digest}`, name);
}

export const ownUid = () => process.getuid?.() ?? 0;
