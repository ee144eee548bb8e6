/** For a person whose client does not show headers: `Try again in 5 seconds.` */
export function tryAgainIn(waitMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return `Try again in ${seconds === 1 ? "1 second" : `${seconds} seconds`}.`;
}
