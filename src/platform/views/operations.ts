import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { newId } from "../../base/ids.ts";
import { conflict, invalid, Problem } from "../../base/problem.ts";
import { hasInvisible } from "../../base/text/visible-text.ts";
import type { People } from "../../people/people.ts";
import {
  mostViews,
  type SavedView,
  type SaveOutcome,
  type ViewPage,
} from "../../people/preferences.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import type { SavedViewView } from "./schemas.ts";

export interface ViewOperations {
  list(input: { userId: string }): Promise<readonly SavedViewView[]>;
  save(input: {
    userId: string;
    page: ViewPage;
    account?: string | undefined;
    name: string;
    search: string;
  }): Promise<SavedViewView>;
  update(input: {
    userId: string;
    id: string;
    name?: string | undefined;
    search?: string | undefined;
  }): Promise<void>;
  remove(input: { userId: string; id: string }): Promise<void>;
}

export const viewAudits = {
  list: null,
  save: { action: "view.save" },
  update: { action: "view.update" },
  remove: { action: "view.remove" },
} satisfies Audits<ViewOperations>;

export function viewOperations({
  people,
  clock,
}: {
  readonly people: People;
  readonly clock: Clock;
}): Unbound<ViewOperations, typeof viewAudits> {
  const { store } = people;
  const find = async (userId: string, id: string): Promise<SavedView> => {
    const found = (await store.views(userId)).find((view) => view.id === id);
    if (found === undefined) throw noView();
    return found;
  };
  return {
    async list({ userId }) {
      return (await store.views(userId)).map(toView);
    },
    async save({ userId, page, account: accountId, name, search }, { audit }) {
      const createdAtMs = clock.nowMs();
      const view: SavedView = {
        id: newId("view", createdAtMs),
        userId,
        page,
        accountId,
        name: toName(name),
        search: toSearch(search),
        createdAtMs,
      };
      check(await store.addView(view, audit({ subject: view.name, accountId })), view.name);
      return toView(view);
    },
    async update({ userId, id, ...given }, { audit }) {
      const { name: old, accountId } = await find(userId, id);
      const name = given.name === undefined ? old : toName(given.name);
      const search = given.search === undefined ? undefined : toSearch(given.search);
      const record = audit({ subject: name, accountId });
      check(await store.updateView({ id, userId }, { name, search }, record), name);
    },
    async remove({ userId, id }, { audit }) {
      const { name, accountId } = await find(userId, id);
      if (!(await store.removeView({ id, userId }, audit({ subject: name, accountId }))))
        throw noView();
    },
  };
}

const noView = () => new Problem({ code: "not_found", message: "Unknown saved view." });

function check(outcome: SaveOutcome, name: string): void {
  switch (outcome) {
    case "saved":
      return;
    case "none":
      throw noView();
    case "taken":
      throw conflict({ name: `You already have a view named "${name}" on this page.` });
    case "full":
      throw conflict({ name: `You have ${mostViews} saved views. Delete one first.` });
    default:
      outcome satisfies never;
  }
}

function toName(text: string): string {
  const name = text.trim();
  if (name === "" || hasInvisible(name))
    throw invalid({
      name: "The name must have at least one visible character and no invisible ones.",
    });
  return name;
}

/** More filters than any page has. */
const mostFilters = 30;

/** As it is written in an address: nothing in it can be anything but names and values. */
function toSearch(text: string): string {
  const filters = new URLSearchParams(text);
  if (filters.size > mostFilters)
    throw invalid({ search: `search must have at most ${mostFilters} filters.` });
  return filters.toString();
}

const toView = ({ id, page, accountId, name, search, createdAtMs }: SavedView): SavedViewView => ({
  id,
  page,
  account: accountId ?? null,
  name,
  search,
  created_at: toDateText(createdAtMs),
});
