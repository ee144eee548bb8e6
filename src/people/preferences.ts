import type { AuditRecord } from "../base/audit.ts";

/** The zone of the times that a person sees: that of their browser, or UTC. */
export const timeZoneChoices = ["local", "utc"] as const;
export type TimeZoneChoice = (typeof timeZoneChoices)[number];

export interface Preferences {
  readonly timeZone: TimeZoneChoice;
  /** Hints that the person has dismissed, the oldest first: `setup`, `setup:ACCOUNT`. */
  readonly dismissed: readonly string[];
}

/** Per person; a new one pushes out the oldest. */
export const mostDismissed = 50;

/** Pages whose filters can be saved. */
export const viewPages = ["overview", "requests", "margin"] as const;
export type ViewPage = (typeof viewPages)[number];

/** Per person. */
export const mostViews = 50;

/** The filters of a page under a name; one person's own. */
export interface SavedView {
  readonly id: string;
  readonly userId: string;
  readonly page: ViewPage;
  /** Whose data the page shows; absent: all accounts. */
  readonly accountId?: string | undefined;
  readonly name: string;
  /** The query of the address, without the question mark. */
  readonly search: string;
  readonly createdAtMs: number;
}

/** `full`: the person has `mostViews`; `taken`: another one of that page has the name. */
export type SaveOutcome = "saved" | "full" | "taken" | "none";

/** A part of `PeopleStore`. */
export interface PreferencesStore {
  preferences(userId: string): Promise<Preferences>;
  setTimeZone(userId: string, timeZone: TimeZoneChoice, audit: AuditRecord): Promise<void>;
  dismiss(userId: string, hint: string, audit: AuditRecord): Promise<void>;
  /** The oldest first. */
  views(userId: string): Promise<readonly SavedView[]>;
  addView(view: SavedView, audit: AuditRecord): Promise<SaveOutcome>;
  updateView(
    of: Pick<SavedView, "id" | "userId">,
    change: { readonly name?: string | undefined; readonly search?: string | undefined },
    audit: AuditRecord,
  ): Promise<SaveOutcome>;
  removeView(of: Pick<SavedView, "id" | "userId">, audit: AuditRecord): Promise<boolean>;
}
