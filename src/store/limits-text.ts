import { fromBudgetText, type Limits, toBudgetText } from "../call/limits.ts";

/** Limits as JSON, the budget in it as exact text. */
export function toLimits(text: string | null): { limits?: Limits } {
  if (text === null) return {};
  const { budget, ...rest }: Omit<Limits, "budget"> & { budget?: string } = JSON.parse(text);
  if (budget === undefined) return { limits: rest };
  const read = fromBudgetText(budget);
  // Without it the owner would be without a limit.
  if (read === undefined) throw new Error(`the database holds an unknown budget: ${budget}`);
  return { limits: { ...rest, budget: read } };
}

export function fromLimits(limits: Limits | undefined): string | null {
  if (limits === undefined) return null;
  const { budget, ...rest } = limits;
  return JSON.stringify({
    ...rest,
    ...(budget === undefined ? {} : { budget: toBudgetText(budget) }),
  });
}
