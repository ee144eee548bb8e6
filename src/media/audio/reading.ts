/** Reads a file and returns its duration in seconds. Yields where others may have the event loop. */
export type Reading = Generator<undefined, number, unknown>;

/** So many steps of a loop take about a millisecond. */
export const stepsPerTurn = 16_384;
