export class LateError extends Error {
  override readonly name = "LateError";
}

/** Rejects with the message when the work takes longer. The work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new LateError(message)), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
