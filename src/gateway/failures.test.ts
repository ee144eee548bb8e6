import { expect, test } from "bun:test";
import { ApiError, type ErrorCode, errorKinds } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { noteFailure } from "./failures.ts";

/** Every code that there is, by the level at which an operator hears of it. */
const levels = {
  error: ["internal_error", "store_unavailable"],
  warn: [
    "model_loading",
    "shutting_down",
    "gateway_overloaded",
    "upstream_error",
    "upstream_overloaded",
    "upstream_rate_limited",
    "upstream_timeout",
    "upstream_unavailable",
  ],
} as const satisfies Record<string, readonly ErrorCode[]>;

const exchange = {
  requestId: "req_1",
  endpoint: "chat",
  dialect: "chat",
  model: undefined,
  askedModel: undefined,
  refusedFor: undefined,
  key: undefined,
  charge: undefined,
  startedMs: 1_000,
} as const;

function linesOf(code: ErrorCode): readonly string[] {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const replyCounter = {
    count: (_: unknown, outcome: string) => void lines.push(outcome),
    countRejection: () => {},
  };
  const rejections = { add: () => {} };
  const dependencies = { log, replyCounter, rejections, clock: { nowMs: () => 2_000 } };
  noteFailure(dependencies, exchange, new ApiError({ code, message: "words" }));
  return lines;
}

test("faults of ours are errors, those of upstreams and of a stop warnings, all others for debugging", () => {
  for (const code of Object.keys(errorKinds) as ErrorCode[]) {
    const isIn = (list: readonly ErrorCode[]) => list.includes(code);
    const line = isIn(levels.error)
      ? "error: request failed"
      : isIn(levels.warn)
        ? "warn: request failed"
        : "debug: request rejected";
    expect(linesOf(code)).toEqual([code, line]);
  }
});
