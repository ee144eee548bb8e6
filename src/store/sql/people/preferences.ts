import type { Transaction } from "kysely";
import {
  mostDismissed,
  mostViews,
  type PreferencesStore,
  type SavedView,
  timeZoneChoices,
  viewPages,
} from "../../../people/preferences.ts";
import { addAudit } from "../audit.ts";
import { lockFor } from "../dialect.ts";
import type { Db, Tables } from "../schema.ts";

/** What people have chosen and saved for themselves. */
export function preferencesStore(db: Db): PreferencesStore {
  return { ...choiceStore(db), ...viewStore(db) };
}

/** Of two processes that look and then change what one person has, the second one waits. */
const exclusively = <T>(
  db: Db,
  userId: string,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> =>
  db.transaction().execute(async (transaction) => {
    await lockFor(transaction, `preferences ${userId}`);
    return work(transaction);
  });

function choiceStore(db: Db) {
  return {
    async preferences(userId) {
      const row = await preferencesOf(db, userId);
      return {
        timeZone: timeZoneChoices.find((known) => known === row?.time_zone) ?? "local",
        dismissed: dismissedIn(row),
      };
    },
    setTimeZone: (userId, timeZone, audit) =>
      db.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto("preferences")
          .values({ user_id: userId, time_zone: timeZone, dismissed: "[]" })
          .onConflict((known) =>
            known
              .column("user_id")
              .doUpdateSet({ time_zone: timeZone })
              .where("preferences.time_zone", "!=", timeZone),
          )
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows === 1n) await addAudit(transaction, audit);
      }),
    dismiss: (userId, hint, audit) =>
      exclusively(db, userId, async (transaction) => {
        const known = dismissedIn(await preferencesOf(transaction, userId));
        if (known.includes(hint)) return;
        const dismissed = JSON.stringify([...known, hint].slice(-mostDismissed));
        await transaction
          .insertInto("preferences")
          .values({ user_id: userId, time_zone: "local", dismissed })
          .onConflict((row) => row.column("user_id").doUpdateSet({ dismissed }))
          .execute();
        await addAudit(transaction, audit);
      }),
  } satisfies Partial<PreferencesStore>;
}

function viewStore(db: Db) {
  return {
    async views(userId) {
      return (await rowsOf(db, userId)).map(toView);
    },
    addView: (view, audit) =>
      exclusively(db, view.userId, async (transaction) => {
        const known = await rowsOf(transaction, view.userId);
        if (known.some((row) => isSame(row, view))) return "taken";
        if (known.length >= mostViews) return "full";
        await transaction.insertInto("saved_views").values(fromView(view)).execute();
        await addAudit(transaction, audit);
        return "saved";
      }),
    updateView: ({ id, userId }, change, audit) =>
      exclusively(db, userId, async (transaction) => {
        const all = await rowsOf(transaction, userId);
        const found = all.find((row) => row.id === id);
        if (found === undefined) return "none";
        const { name = found.name, search = found.search } = change;
        const next = { ...toView(found), name };
        if (all.some((row) => row.id !== id && isSame(row, next))) return "taken";
        await transaction
          .updateTable("saved_views")
          .set({ name, search })
          .where("id", "=", id)
          .execute();
        await addAudit(transaction, audit);
        return "saved";
      }),
    removeView: ({ id, userId }, audit) =>
      db.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom("saved_views")
          .where("id", "=", id)
          .where("user_id", "=", userId)
          .executeTakeFirstOrThrow();
        if (numDeletedRows === 1n) await addAudit(transaction, audit);
        return numDeletedRows === 1n;
      }),
  } satisfies Partial<PreferencesStore>;
}

const preferencesOf = (db: Db | Transaction<Tables>, userId: string) =>
  db.selectFrom("preferences").selectAll().where("user_id", "=", userId).executeTakeFirst();

function dismissedIn(row: Tables["preferences"] | undefined): readonly string[] {
  const kept: unknown = JSON.parse(row?.dismissed ?? "[]");
  return Array.isArray(kept) ? kept.filter((hint) => typeof hint === "string") : [];
}

type Row = Tables["saved_views"];

const rowsOf = (db: Db | Transaction<Tables>, userId: string): Promise<Row[]> =>
  db.selectFrom("saved_views").selectAll().where("user_id", "=", userId).orderBy("id").execute();

const isSame = (row: Row, { page, accountId, name }: SavedView) =>
  row.page === page && (row.account_id ?? undefined) === accountId && row.name === name;

function toView(row: Row): SavedView {
  return {
    id: row.id,
    userId: row.user_id,
    page: viewPages.find((known) => known === row.page) ?? "overview",
    accountId: row.account_id ?? undefined,
    name: row.name,
    search: row.search,
    createdAtMs: row.created_at_ms,
  };
}

function fromView(view: SavedView): Row {
  return {
    id: view.id,
    user_id: view.userId,
    account_id: view.accountId ?? null,
    page: view.page,
    name: view.name,
    search: view.search,
    created_at_ms: view.createdAtMs,
  };
}
