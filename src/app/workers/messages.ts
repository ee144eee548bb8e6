import type { ApiErrorOptions } from "../../base/errors.ts";
import type { LogRecord } from "../../base/log.ts";

/** What a worker and its supervisor say to each other, as JSON over the channel between them. */
export type ToWorker =
  | { readonly type: "metrics"; readonly id: number }
  /** The kernel gave it too many connections. */
  | { readonly type: "end-connections"; readonly count: number }
  /** The answer to `engine`. */
  | { readonly type: "engine"; readonly id: number; readonly refusal?: EngineRefusal };

export type FromWorker =
  | { readonly type: "listening" }
  | { readonly type: "metrics"; readonly id: number; readonly text: string }
  /** Before it ends: what it has counted since the last question. */
  | { readonly type: "ending"; readonly text: string }
  /** Requests in flight, on average since the last time. */
  | { readonly type: "load"; readonly pending: number }
  /** What it has logged since the last time. */
  | { readonly type: "log"; readonly records: readonly LogRecord[] }
  /** Can the engine take a call for this model? Answered when it can, or will not soon. */
  | { readonly type: "engine"; readonly id: number; readonly model: string };

/** An error of the API between processes. */
export type EngineRefusal = Pick<ApiErrorOptions, "code" | "message" | "detail" | "retryAfterMs">;
