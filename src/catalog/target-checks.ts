import type { AuditRecord } from "../base/audit.ts";
import type { ProviderEntry, ProviderKey } from "./model.ts";

/** The last outcome of a test, or of the first call, of one target. */
export interface TargetCheck {
  readonly provider: string;
  /** The name of the key; `default` where the provider has no choice of keys. */
  readonly key: string;
  /** As the provider calls it; "" for a test of the key alone. */
  readonly model: string;
  /** Of the address, key and options that it was made with; with others it says nothing. */
  readonly digest: string;
  readonly isOk: boolean;
  readonly atMs: number;
}

/** Implemented by the store. Only the newest check of each target is kept. */
export interface TargetCheckStore {
  list(): Promise<readonly TargetCheck[]>;
  save(check: TargetCheck): Promise<void>;
  /**
   * Forgets the failures of a provider, or of one of its models and the keys that it is called with,
   * so that nothing is known of those targets. Returns how many there were.
   */
  forgetFailures(
    of: { readonly provider: string; readonly model?: string | undefined },
    audit: AuditRecord,
  ): Promise<number>;
}

/** What a check depends on. Secrets are in it as the store has them: sealed, or by name. */
export function connectionDigest(entry: ProviderEntry, key: ProviderKey | undefined): string {
  const { kind, baseUrl, allowPrivate, options = {} } = entry;
  const text = JSON.stringify([kind, baseUrl, allowPrivate, key?.secret ?? null, options]);
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32);
}
