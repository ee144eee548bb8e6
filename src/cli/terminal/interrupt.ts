/** As shells do: 128 plus the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Ctrl-C can reach us twice, from the terminal and through npm. That counts as one. */
const sameWishMs = 500;

/**
 * Runs work that Ctrl-C ends cleanly: the signal aborts it, the work cleans up, and the process exits
 * with the code that shells expect.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let asked: { readonly code: number; readonly atMs: number } | undefined;
  const onSignal = (name: keyof typeof exitCodes) => {
    if (asked !== undefined && Date.now() - asked.atMs > sameWishMs) process.exit(asked.code);
    asked ??= { code: exitCodes[name], atMs: Date.now() };
    controller.abort();
  };
  const names = Object.keys(exitCodes) as (keyof typeof exitCodes)[];
  for (const name of names) process.on(name, onSignal);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (asked !== undefined) process.exit(asked.code);
    throw error;
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}
