/** Money that this process wants. */
export interface Want {
  /** What its waiting calls need, together. */
  readonly need: bigint;
  /** What is of use to one of them: less is wanted only where others have nothing to give back. */
  readonly least: bigint;
  /** A call waits no longer: it takes what there is. */
  readonly isLast: boolean;
}

export interface LoanRequest extends Want {
  readonly accountId: string;
}

/** The same of a budget. */
export interface BudgetLoanRequest extends Want {
  readonly ownerId: string;
  readonly isKey: boolean;
  readonly periodStartMs: number;
  /** As this process knows the limits: of others nothing is lent. */
  readonly version: number;
  readonly nano: bigint;
}

/** What this process may spend now, and what there is besides. */
export interface Loan {
  readonly granted: bigint;
  /** What nobody has. */
  readonly free: bigint;
  /** What other processes have, and how much of it is with those that do not answer any more. */
  readonly elsewhere: bigint;
  readonly silent: bigint;
}

export interface GivenBack {
  readonly accountId: string;
  readonly nano: bigint;
}

export interface BudgetGivenBack {
  readonly ownerId: string;
  readonly periodStartMs: number;
  readonly nano: bigint;
}

/** This process's epoch was closed by another: it has no leases any more. */
export class LeasesClosedError extends Error {
  override readonly name = "LeasesClosedError";
}

/** Implemented by a store that several processes share. Rejects with a LeasesClosedError for good. */
export interface LeaseStore {
  /** By account; one that does not exist has no loan. */
  lend(requests: readonly LoanRequest[]): Promise<ReadonlyMap<string, Loan>>;
  /** By owner and period, as `budgetName` has it; none where the limits have changed. */
  lendBudgets(requests: readonly BudgetLoanRequest[]): Promise<ReadonlyMap<string, Loan>>;
  giveBack(rows: readonly GivenBack[]): Promise<void>;
  giveBackBudgets(rows: readonly BudgetGivenBack[]): Promise<void>;
}

export const budgetName = (ownerId: string, periodStartMs: number) => `${ownerId} ${periodStartMs}`;
