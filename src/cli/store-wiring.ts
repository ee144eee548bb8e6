import { Problem } from "../base/problem.ts";

/** There is no store yet, and the command is not one that creates it. */
export class NoDatabase extends Problem {
  constructor({ database, isEmpty = false, setting }: MissingDatabase) {
    super({
      code: "not_found",
      message: `The database ${database} ${isEmpty ? "is empty" : "does not exist"}. Check ${setting}, or create a new database with svc serve.`,
    });
  }
}

interface MissingDatabase {
  /** The file, or the address without its password. */
  readonly database: string;
  readonly isEmpty?: boolean;
  /** Where it is looked for. */
  readonly setting: "SVC_DATA_DIR" | "SVC_DATABASE_URL";
}

/** What the commands about the database itself get from the composition root. */
export interface StoreWiring {
  /** Brings the schema up to date, or shows what that would apply. */
  readonly migrate: (options: MigrateRequest) => Promise<MigrationView>;
  /** Copies the SQLite database to PostgreSQL; by the settings, where no address is given. */
  readonly copyStore: (options: CopyRequest) => Promise<CopyView>;
  /** Servers can start on the SQLite database again. */
  readonly cancelCopy: () => Promise<CancelView>;
}

/** What an upgrade is going to do with an existing database, before it does it. */
export interface UpgradeNotice {
  readonly steps: readonly {
    readonly name: string;
    readonly about: string;
    /** That the step reads or writes. */
    readonly rows: number;
  }[];
  /** The version of svc before; undefined: one that did not note itself. */
  readonly from: string | undefined;
  readonly to: string;
  /** What stands for a backup: a file, a command of PostgreSQL, or nothing because it is off. */
  readonly backup:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "pg_dump"; readonly command: string }
    | { readonly kind: "off" };
}

/** Shows the notice, and throws where the person does not want the upgrade. */
export type OnUpgrade = (notice: UpgradeNotice) => void | Promise<void>;

export interface MigrateRequest {
  readonly dryRun: boolean;
  /** Absent: it is printed. */
  readonly onUpgrade?: OnUpgrade;
}

export interface MigrationView {
  /** The file, or the address without its password. */
  readonly database: string;
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** What each of them does. */
  readonly about: Readonly<Record<string, string>>;
  /** Why servers cannot use the database yet. */
  readonly warning?: string | undefined;
}

export interface CopyRequest {
  readonly to: string | undefined;
  readonly onProgress: (progress: CopyProgress) => void;
}

export interface CopyProgress {
  /** Absent while ledgers are verified. */
  readonly table: string | undefined;
  /** Of the table; of receipts, while a ledger is verified. */
  readonly doneRows: number;
  readonly totalRows: number;
  /** Whether these rows are of an earlier command that is continued. */
  readonly isContinued?: boolean;
}

export interface CopyView {
  readonly from: string;
  /** Without its password. */
  readonly to: string;
  /** Whether an earlier copy was continued. */
  readonly resumed: boolean;
  /** Whether an earlier command had copied everything, and this one nothing. */
  readonly was_complete: boolean;
  readonly rows: number;
  readonly tables: Readonly<Record<string, number>>;
  readonly accounts: number;
  readonly entries: number;
  readonly receipts: number;
  /** Nano-USD. */
  readonly charged: bigint;
}

export interface CancelView {
  /** The SQLite database. */
  readonly database: string;
  /** Where its copy is, without user and password. */
  readonly copied_to: string;
}
