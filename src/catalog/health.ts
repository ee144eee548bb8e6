import type { UpstreamReason } from "../base/errors.ts";

/** How a target is doing, for the operator. */
export interface TargetHealth {
  readonly provider: string;
  readonly model: string;
  /** `resting`: it asked to be left alone for a while. */
  readonly state: "closed" | "open" | "half-open" | "resting";
  /** Why it is not asked, or was not. */
  readonly reason: UpstreamReason | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** Of the last seconds. */
  readonly requests: number;
  readonly failures: number;
}
