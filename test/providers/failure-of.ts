import { ApiError } from "../../src/base/errors.ts";

/** Whatever the work fails with; undefined if it does not. */
export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What a call fails with, which must be an ApiError. */
export async function apiErrorOf(work: Promise<unknown>): Promise<ApiError> {
  return toApiError(await failureOf(work));
}

/** What is thrown at once, which must be an ApiError. */
export function apiErrorIn(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    return toApiError(error);
  }
  return toApiError(undefined);
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  throw new Error(`no ApiError: ${String(thrown)}`, { cause: thrown });
}
