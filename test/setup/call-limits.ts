/** The usual time limits of a call, for tests of running calls. */
export const callLimits = {
  connectMs: 10_000,
  maxCallMs: 900_000,
  firstByteMs: 600_000,
  idleMs: 120_000,
  readerMs: 60_000,
  keepAliveMs: 15_000,
} as const;
