import type { Settings } from "../config/settings.ts";
import type { Operations } from "../platform/operations.ts";

/** The account of the first key. */
const firstAccount = "default";
const firstCreditUsd = "5";

export interface FirstStart {
  /** Shown this once; absent when there are accounts already, or where the settings ask for none. */
  readonly key: { readonly secret: string; readonly balanceUsd: string } | undefined;
  /** Makes its reader the first operator; absent when there is one. */
  readonly operatorLink: string | undefined;
}

/** What a fresh installation needs to be tried at once: an account with some credit, a key, an operator. */
export async function completeFirstStart(
  operations: Operations,
  { firstKey }: Pick<Settings, "firstKey">,
): Promise<FirstStart> {
  const key = firstKey === "on" ? await createFirstKey(operations) : undefined;
  const operator = await operations.operators.first({});
  return { key, operatorLink: operator?.link };
}

/** Only on the very first start, before anybody has created an account. */
async function createFirstKey(operations: Operations): Promise<FirstStart["key"]> {
  const [first, ...others] = await operations.accounts.list({});
  // A first start that was cut off may have left the account without money and key.
  const isHalfMade = first?.name === firstAccount && first.keys === 0 && others.length === 0;
  if (first !== undefined && !isHalfMade) return undefined;
  const account = first ?? (await operations.accounts.create({ name: firstAccount }));
  const { balance_usd: balanceUsd } = await operations.entries.add({
    account: account.id,
    kind: "credit",
    usd: firstCreditUsd,
    reference: "welcome",
    note: "to try the gateway with; made at its first start",
  });
  const { key } = await operations.keys.create({ account: account.id, name: "first" });
  return { secret: key, balanceUsd };
}

/** A caller of the first account most likely runs the gateway, and can add credit. */
export function creditAdvice({ name }: { readonly name: string }): string {
  return name === firstAccount
    ? `Add credit: ./svc account credit ${firstAccount} ${firstCreditUsd} --reference top-up-1`
    : "Ask the operator to add credit.";
}
