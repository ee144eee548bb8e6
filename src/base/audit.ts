/** Who changed what. It is written once, in the transaction of the change itself. */
export interface AuditRecord {
  readonly id: string;
  readonly atMs: number;
  readonly actor: AuditActor;
  readonly accountId?: string | undefined;
  /** Such as `key.create`. */
  readonly action: string;
  /** The id or name of what was changed. */
  readonly subject: string;
  /** Never a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
  readonly address: string;
}

export interface AuditActor {
  readonly kind: "person" | "operator" | "token" | "command";
  readonly id: string;
  /** The name at that time. */
  readonly name: string;
}

export interface AuditQuery {
  readonly accountId?: string | undefined;
  readonly action?: string | undefined;
  /** The id that the page before this one ended with. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Implemented by the store. Every other port writes the records of its own changes. */
export interface AuditStore {
  /** Of a change that no table holds, such as a key of 15 minutes. */
  add(record: AuditRecord): Promise<void>;
  /** The newest first. */
  list(query: AuditQuery): Promise<readonly AuditRecord[]>;
}
