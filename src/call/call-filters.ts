/** Filters that apply to admitted and to rejected calls. */
export interface CallFilters {
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly dialect?: string | undefined;
  /** The HTTP status that the caller got. */
  readonly status?: number | undefined;
  /** The start of an id, or all of it. */
  readonly idPrefix?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}
