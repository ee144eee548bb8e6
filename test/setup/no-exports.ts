import type { RunningExports } from "../../src/platform/exports/operations.ts";

/** Of operations on a store alone: nothing exports. */
export const noExports: RunningExports = {
  lagMs: 0,
  openCarrier() {
    throw new Error("nothing exports here");
  },
  runNow: async () => undefined,
};
