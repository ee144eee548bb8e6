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
  /** In the name of the actor, in any case of letters. */
  readonly actor?: string | undefined;
  /** In what was changed. */
  readonly subject?: string | undefined;
  /** In the actor, the action, what was changed, or the detail. */
  readonly search?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** For members: operators are found as "an operator" alone, as they are shown. */
  readonly hidesOperators?: boolean | undefined;
  /** Where the page before this one ended. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** For the next page; undefined at the end. A page may be short, or empty, and yet have a next. */
  readonly after: string | undefined;
}

/** As members of an account see the actor of a change that an operator made. */
export const anOperator = "an operator";

/** Implemented by the store. Every other port writes the records of its own changes. */
export interface AuditStore {
  /** Of a change that no table holds, such as a key of 15 minutes. */
  add(record: AuditRecord): Promise<void>;
  /** The newest first. */
  list(query: AuditQuery): Promise<AuditPage>;
}
