import { fromDateText } from "../base/dates.ts";
import { Problem } from "../base/problem.ts";
import type { Account, AccountStore } from "../ledger/account.ts";

/** What operators say, read once and refused with what would be right. */
export async function findAccount(accounts: AccountStore, idOrName: string): Promise<Account> {
  const account = await accounts.find(idOrName);
  if (account === undefined)
    throw new Problem(
      "not_found",
      `There is no account ${idOrName}; ./svc account list shows those there are.`,
    );
  return account;
}

export function toMoment(text: string, flag: string): number {
  const ms = fromDateText(text);
  if (ms === undefined)
    throw new Problem(
      "invalid",
      `${flag} must be a day such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z, not "${text}".`,
    );
  return ms;
}

export function futureDate(options: {
  readonly text: string;
  readonly flag: string;
  readonly nowMs: number;
}): number {
  const { text, flag, nowMs } = options;
  const ms = toMoment(text, flag);
  if (ms <= nowMs)
    throw new Problem("invalid", `${flag} must lie in the future; ${text} has passed.`);
  return ms;
}

/** The midnight, in UTC, that a day begins with. */
export function toDayStart(text: string, flag: string): number {
  const ms = text.length === 10 ? fromDateText(text) : undefined;
  if (ms === undefined)
    throw new Problem("invalid", `${flag} must be a day such as 2027-01-31, not "${text}".`);
  return ms;
}
