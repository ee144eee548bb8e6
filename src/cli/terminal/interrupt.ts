/** By the shells' custom: 128 and the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A terminal's ctrl-c may reach us twice, directly and through npm: that is one wish. */
const sameWishMs = 500;

/**
 * Runs work that ctrl-c ends in order: the signal aborts, the work closes its connection and tidies
 * up, and the process leaves with the code that shells expect.
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
