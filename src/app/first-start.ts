import type { Settings } from "../config/settings.ts";
import type { Operations } from "../platform/operations.ts";
import { inFirstStart, type Opened } from "./opened.ts";

/** The account of the first key. */
const firstAccount = "default";
const firstCreditUsd = "5";

export interface FirstStart {
  /** Shown only once; absent if accounts exist, or if the settings turn it off. */
  readonly key: { readonly secret: string; readonly balanceUsd: string } | undefined;
  /** Creates the first operator; absent if one exists. */
  readonly operatorLink: string | undefined;
}

/** Creates an account with some credit, a key and an operator link in a new installation. */
export async function completeFirstStart(
  { operations, opened }: { readonly operations: Operations; readonly opened: Opened },
  { firstKey }: Pick<Settings, "firstKey">,
): Promise<FirstStart> {
  const key =
    firstKey === "on" ? await inFirstStart(opened, () => createFirstKey(operations)) : undefined;
  const operator = await operations.operators.first({});
  return { key, operatorLink: operator?.link };
}

/** Only on the first start, before any account exists. */
async function createFirstKey(operations: Operations): Promise<FirstStart["key"]> {
  const [first, ...others] = await operations.accounts.list({});
  // A first start that was interrupted may have left the account without money and key.
  const isHalfMade = first?.name === firstAccount && first.keys === 0 && others.length === 0;
  if (first !== undefined && !isHalfMade) return undefined;
  const account = first ?? (await operations.accounts.create({ name: firstAccount }));
  const { balance_usd: balanceUsd } = await operations.entries.add({
    account: account.id,
    kind: "credit",
    usd: firstCreditUsd,
    reference: "welcome",
    note: "starting credit, created on first start",
  });
  const { key } = await operations.keys.create({ account: account.id, name: "first" });
  return { secret: key, balanceUsd };
}

/** The owner of the first account most likely runs the gateway and can add credit. */
export function creditAdvice({ name }: { readonly name: string }): string {
  return name === firstAccount
    ? `add credit: svc account credit ${firstAccount} ${firstCreditUsd} --reference top-up-1`
    : "ask the operator to add credit.";
}
