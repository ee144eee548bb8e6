import { ApiError } from "../../src/base/errors.ts";
import { callerLeft } from "../../src/gateway/active-calls.ts";
import type { Charge, Measured } from "../../src/gateway/billing/charge.ts";
import type { Ending, Use } from "./commands.ts";
import type { PlainUnits } from "./plain-ledger.ts";

/** A call that was let in, with the most that it may use. */
export interface Running {
  readonly charge: Charge;
  readonly input: number;
  readonly output: number;
}

export interface Ended {
  /** What it has to pay for. */
  readonly units: PlainUnits;
  readonly outcome: string;
  readonly mayTakeBack: boolean;
  /** Whether it could be written; pending while the store fails. */
  readonly ended: Promise<boolean>;
}

/** Ends a call as endpoints do. */
export function endCall({ charge, input, output }: Running, how: Ending, use: Use): Ended {
  const used = Math.floor((input * use.inputPercent) / 100);
  const cached = Math.floor((used * use.cachedPercent) / 100);
  const units = {
    input: used - cached,
    cached_input: cached,
    output: Math.floor((output * use.outputPercent) / 100),
  };
  const measured: Measured = { units, reasoningTokens: 0, estimated: false };
  charge.measure = () => measured;
  if (how !== "left-early") charge.accepted();
  if (how === "streamed" || how === "broke") charge.deliver();
  const isOk = how === "whole" || how === "streamed";
  const ended = isOk ? charge.settle(measured) : charge.close(isLeft(how) ? left : broken);
  return {
    units: how === "failed" || how === "left-early" ? nothing : units,
    outcome: isOk ? "ok" : isLeft(how) ? "left" : broken.code,
    mayTakeBack: how === "whole",
    ended: ended.then(
      () => true,
      () => false,
    ),
  };
}

const isLeft = (how: Ending) => how === "left" || how === "left-early";
const left = callerLeft("gone");
const broken = new ApiError({ code: "upstream_error", message: "The model failed to respond." });
const nothing: PlainUnits = { input: 0, cached_input: 0, output: 0 };
