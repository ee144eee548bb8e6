import { fromDateText } from "../../base/dates.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { unknownModel } from "../../catalog/catalog.ts";
import type { Model } from "../../catalog/model.ts";
import type { Account, AccountStore } from "../../ledger/account.ts";

/** What operators say, read once and refused with what would be right. */
export async function findAccount(accounts: AccountStore, idOrName: string): Promise<Account> {
  const account = await accounts.find(idOrName);
  if (account === undefined)
    throw new Problem({
      code: "not_found",
      message: `Unknown account "${idOrName}".`,
      command: "account list",
    });
  return account;
}

/** By their ids. */
export async function accountNames(
  accounts: Pick<AccountStore, "list">,
): Promise<ReadonlyMap<string, string>> {
  return new Map((await accounts.list()).map(({ id, name }) => [id, name]));
}

export function toMoment(text: string, field: string): number {
  const ms = fromDateText(text);
  if (ms === undefined)
    throw invalid({
      [field]: `The date must be a day such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z, not "${text}".`,
    });
  return ms;
}

export function futureDate(options: {
  readonly text: string;
  readonly field: string;
  readonly nowMs: number;
}): number {
  const { text, field, nowMs } = options;
  const ms = toMoment(text, field);
  if (ms <= nowMs) throw invalid({ [field]: `The date must be in the future, not ${text}.` });
  return ms;
}

/** The midnight, in UTC, that a day begins with. */
export function toDayStart(text: string, field: string): number {
  const ms = text.length === 10 ? fromDateText(text) : undefined;
  if (ms === undefined)
    throw invalid({ [field]: `The date must be a day such as 2027-01-31, not "${text}".` });
  return ms;
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `0`, or a whole number of seconds, minutes, hours or days: `30m`, `24h`, `7d`. */
export function toDurationMs(options: {
  readonly text: string;
  readonly field: string;
  readonly maxDays: number;
}): number {
  const { text, field, maxDays } = options;
  const match = /^(\d{1,9})([smhd])$/.exec(text === "0" ? "0s" : text);
  const unit = match?.[2] as keyof typeof unitMs | undefined;
  const ms = unit === undefined ? Number.NaN : Number(match?.[1]) * unitMs[unit];
  if (Number.isNaN(ms) || ms > maxDays * unitMs.d)
    throw invalid({
      [field]: `The duration must be 0 or a value such as 30m, 24h or 7d, at most ${maxDays} days, not "${text}".`,
    });
  return ms;
}

const mostDaysAgo = 3_650;

/** What people mean by `since`: a duration before now, a day or a time. */
export function toPastMoment(options: {
  readonly text: string;
  readonly field: string;
  readonly nowMs: number;
}): number {
  const { text, field, nowMs } = options;
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const agoMs = Number(count) * (unitMs[unit as keyof typeof unitMs] ?? Number.NaN);
  const ms = agoMs <= mostDaysAgo * unitMs.d ? nowMs - agoMs : fromDateText(text);
  if (ms !== undefined) return ms;
  throw invalid({
    [field]: `${field} must be a duration such as 10m, 24h or 7d (at most ${mostDaysAgo}d), a day such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z, not "${text}".`,
  });
}

export function findModel(models: readonly Model[], id: string): Model {
  const model = models.find((known) => known.id === id);
  if (model === undefined) throw unknownModel(id);
  return model;
}
