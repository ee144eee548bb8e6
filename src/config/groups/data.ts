import { homedir } from "node:os";
import { resolve } from "node:path";
import { withoutPassword } from "../../base/text/passwords.ts";
import type { Setting } from "../setting.ts";
import {
  apiKey,
  bodiesMb,
  connections,
  count,
  databaseUrl,
  oneOf,
  onOff,
  passphrase,
  path,
  seconds,
  secret,
} from "../setting-readers.ts";

/** What is stored, where, and for how long. */
export const dataSettings = {
  dataDir: {
    env: "SVC_DATA_DIR",
    about: "directory of the database, master secret and control socket",
    fallback: ".svc",
    read: path,
  },
  cacheDir: {
    env: "SVC_CACHE_DIR",
    about: "directory for files that can be downloaded again",
    fallback: resolve(homedir(), ".cache/svc-gateway"),
    read: path,
  },
  secret: {
    env: "SVC_SECRET",
    about: "master secret (default: generated in the data directory)",
    fallback: undefined,
    read: secret,
    inFile: false,
    hidden: true,
  },
  secretFile: {
    env: "SVC_SECRET_FILE",
    about: "file with the master secret, in place of SVC_SECRET",
    fallback: undefined,
    read: path,
    inFile: false,
  },
  apiKey: {
    env: "SVC_API_KEY",
    about: "API key of this gateway that svc connect can write into the files of tools",
    fallback: undefined,
    read: apiKey,
    inFile: false,
    hidden: true,
  },
  databaseUrl: {
    env: "SVC_DATABASE_URL",
    about: "database (default: SQLite in the data directory)",
    fallback: undefined,
    read: databaseUrl,
    inFile: false,
    show: withoutPassword,
  },
  databaseUrlFile: {
    env: "SVC_DATABASE_URL_FILE",
    about: "file with the address of the database, in place of SVC_DATABASE_URL",
    fallback: undefined,
    read: path,
    inFile: false,
  },
  config: {
    env: "SVC_CONFIG",
    about: "config file (default: svc.yaml if it exists)",
    fallback: undefined,
    read: path,
    inFile: false,
  },
  keyCommandMs: {
    env: "SVC_KEY_COMMAND_S",
    about: "seconds after which a command that prints a provider's key is run again",
    fallback: "300",
    read: seconds,
  },
  databaseConnections: {
    env: "SVC_DATABASE_CONNECTIONS",
    about: "maximum connections of one process to PostgreSQL",
    fallback: "10",
    read: connections,
  },
  offlineMs: {
    env: "SVC_OFFLINE_S",
    about:
      "seconds, beside the longest call, after which a gateway that cannot reach PostgreSQL is given up",
    fallback: "60",
    read: seconds,
  },
  backupPassphrase: {
    env: "SVC_BACKUP_PASSPHRASE",
    about: "passphrase that encrypts backups and opens encrypted ones",
    fallback: undefined,
    read: passphrase,
    inFile: false,
    hidden: true,
  },
  upgradeBackup: {
    env: "SVC_UPGRADE_BACKUP",
    about: "back up a SQLite database before an upgrade migrates it",
    fallback: "on",
    read: onOff,
  },
  receiptsDays: {
    env: "SVC_RECEIPTS_DAYS",
    about: "days that receipts are kept (default: forever)",
    fallback: undefined,
    read: count,
  },
  receiptsExportDir: {
    env: "SVC_RECEIPTS_EXPORT_DIR",
    about: "directory that old receipts are exported to before they are deleted",
    fallback: undefined,
    read: path,
  },
  receiptsExportFormat: {
    env: "SVC_RECEIPTS_EXPORT_FORMAT",
    about: "format of exported receipts: csv or parquet",
    fallback: "csv",
    read: oneOf("csv", "parquet"),
  },
  storeResponses: {
    env: "SVC_STORE_RESPONSES",
    about: "let callers store responses, to read and to continue them later",
    fallback: "off",
    read: onOff,
  },
  storedResponsesDays: {
    env: "SVC_STORED_RESPONSES_DAYS",
    about: "days that a stored response is kept",
    fallback: "30",
    read: count,
  },
  storedResponsesMb: {
    env: "SVC_STORED_RESPONSES_MB",
    about: "maximum size of the stored responses of one account, in MiB",
    fallback: "1024",
    read: bodiesMb,
  },
} as const satisfies Record<string, Setting<unknown>>;
