import { damaged, fromJson, isCount, isText } from "./header.ts";

/** What a backup contains; encrypted if there is a passphrase. */
export interface BackupAbout {
  readonly databaseBytes: number;
  /** Of the master secret that the database belongs to. */
  readonly secretFingerprint: string;
  readonly hasSecret: boolean;
  /** By name, the oldest first. */
  readonly migrations: readonly string[];
  /** "" where there is none. */
  readonly newestReceipt: string;
  /** The number of the newest change. */
  readonly sequence: number;
  readonly receipts: number;
  readonly accounts: number;
}

export function readAbout(bytes: Uint8Array, name: string): BackupAbout {
  const about = fromJson(bytes, name);
  const { databaseBytes, secretFingerprint, hasSecret, migrations, newestReceipt } = about;
  const { sequence, receipts, accounts } = about;
  if (
    isCount(databaseBytes) &&
    isText(secretFingerprint) &&
    /^[0-9a-f]{1,64}$/.test(secretFingerprint) &&
    typeof hasSecret === "boolean" &&
    Array.isArray(migrations) &&
    migrations.length <= 10_000 &&
    migrations.every(isText) &&
    isText(newestReceipt) &&
    isCount(sequence) &&
    isCount(receipts) &&
    isCount(accounts)
  )
    return {
      databaseBytes,
      secretFingerprint,
      hasSecret,
      migrations,
      newestReceipt,
      sequence,
      receipts,
      accounts,
    };
  throw damaged(name, "its description is incomplete");
}
