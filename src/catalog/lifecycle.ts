/** active → deprecated → retired, moved by the operator or by its dates; never back. */
export interface Lifecycle {
  /** May lie ahead: until then the model is active. */
  readonly deprecatedAtMs?: number;
  /** After this time the model is retired automatically. */
  readonly retiresAtMs?: number;
  readonly replacement?: string;
}

/** What callers see of a deprecated or retired model. */
export interface Deprecation {
  readonly deprecatedAtMs: number;
  readonly retiresAtMs: number | undefined;
  /** The model to use instead. */
  readonly replacement: string | undefined;
}

export type LifecycleState = "active" | "deprecated" | "retired";

export function lifecycleState(lifecycle: Lifecycle, nowMs: number): LifecycleState {
  const { deprecatedAtMs } = lifecycle;
  if (deprecatedAtMs === undefined || deprecatedAtMs > nowMs) return "active";
  if (lifecycle.retiresAtMs !== undefined && lifecycle.retiresAtMs <= nowMs) return "retired";
  return "deprecated";
}
