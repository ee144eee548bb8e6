import { fromBudgetText, type Limits, toBudgetText } from "../../../call/limits.ts";
import type { Db } from "../schema.ts";

interface LimitsRow {
  readonly limits: string | null;
  readonly limits_version: number;
}

/** Limits as JSON, the budget in it as exact text. */
export function toLimits({ limits, limits_version: version }: LimitsRow): {
  limits?: Limits;
  limitsVersion?: number;
} {
  return {
    ...(limits === null ? {} : { limits: readLimits(limits) }),
    ...(version === 0 ? {} : { limitsVersion: version }),
  };
}

export function readLimits(text: string): Limits {
  const { budget, ...rest }: Omit<Limits, "budget"> & { budget?: string } = JSON.parse(text);
  if (budget === undefined) return rest;
  const read = fromBudgetText(budget);
  // Without it the owner would be without a limit.
  if (read === undefined) throw new Error(`the database contains an unknown budget: ${budget}`);
  return { ...rest, budget: read };
}

export function fromLimits(limits: Limits | undefined): string | null {
  if (limits === undefined) return null;
  const { budget, ...rest } = limits;
  return JSON.stringify({
    ...rest,
    ...(budget === undefined ? {} : { budget: toBudgetText(budget) }),
  });
}

interface NewOwner {
  readonly id: string;
  readonly createdAtMs: number;
  readonly limits?: Limits;
}

/** Without limits there is no version until there are some. */
export const firstLimitsVersion = ({ limits }: NewOwner) => (limits === undefined ? 0 : 1);

/** Of an account or a key that is created with limits. */
export async function addFirstLimits(transaction: Db, owner: NewOwner): Promise<void> {
  if (owner.limits === undefined) return;
  await transaction
    .insertInto("limit_versions")
    .values({
      owner_id: owner.id,
      version: firstLimitsVersion(owner),
      effective_at_ms: owner.createdAtMs,
      limits: fromLimits(owner.limits),
    })
    .execute();
}
