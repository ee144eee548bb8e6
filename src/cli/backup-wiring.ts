/** What the commands about backups get from the composition root. */
export interface BackupWiring {
  readonly backup: (request: BackupRequest) => Promise<BackupView>;
  readonly verifyBackup: (request: ReadRequest) => Promise<VerifiedView>;
  readonly restore: (request: RestoreRequest) => Promise<RestoreView>;
}

export interface BackupProgress {
  readonly step: "copy" | "write" | "read" | "check" | "verify";
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface BackupRequest {
  /** A file, a directory, or "-" for standard output. */
  readonly file: string;
  readonly force: boolean;
  /** Encrypts the backup. */
  readonly passphrase: string | undefined;
  /** How many backups stay in the directory. */
  readonly keep: number | undefined;
  readonly onProgress: (progress: BackupProgress) => void;
  readonly signal: AbortSignal;
}

export interface ReadRequest {
  /** A file, or "-" for standard input. */
  readonly file: string;
  /** Asked only for an encrypted backup. */
  readonly passphrase: () => Promise<string>;
  readonly onProgress: (progress: BackupProgress) => void;
  readonly signal: AbortSignal;
}

export interface RestoreRequest extends ReadRequest {
  /** By the settings, if absent. */
  readonly dataDir: string | undefined;
  /** Also a backup that does not show who wrote it. */
  readonly trusts: boolean;
  /** The schema stays as it is in the backup, for an older version. */
  readonly keepSchema: boolean;
}

/** What a backup says of itself. */
export interface BackupContentView {
  /** Of svc, when it was written. */
  readonly version: string;
  readonly created_at: string;
  readonly receipts: number;
  readonly accounts: number;
  readonly newest_receipt: string | null;
  /** The number of the newest change. */
  readonly sequence: number;
  /** The newest migration. */
  readonly schema: string;
  readonly database_bytes: number;
  readonly secret_fingerprint: string;
  readonly has_secret: boolean;
}

export interface BackupView extends BackupContentView {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly encrypted: boolean;
  /** Older backups that --keep has removed. */
  readonly removed: readonly string[];
}

export interface VerifiedView extends BackupContentView {
  readonly file: string;
  readonly encrypted: boolean;
}

export interface RestoreView extends BackupContentView {
  readonly file: string;
  readonly encrypted: boolean;
  readonly data_dir: string;
  readonly database: string;
  /** Where the master secret is. */
  readonly secret: "backup" | "data directory" | "settings";
  /** The setting, where it is in one. */
  readonly setting: "SVC_SECRET" | "SVC_SECRET_FILE" | null;
  /** Migrations that were applied. */
  readonly migrated: readonly string[];
  /** Null where the schema is that of an older version, which alone can verify it. */
  readonly ledger_problems: number | null;
  /** Of an interrupted restore; removed. */
  readonly leftovers: readonly string[];
  /** Names of exports that go on with `svc exports resume`. */
  readonly paused_exports: readonly string[];
  /** Whether sessions, links, tokens and operators' ways to sign in were ended. */
  readonly ended_access: boolean;
}
