/**
 * What vendors answer when they refuse or fail, and whose fault it is. Each file in `error-bodies/`
 * is one vendor: its bodies are data, and a new one is added there.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode, UpstreamReason } from "../../src/base/errors.ts";
import type { Json } from "../../src/call/chat.ts";
import type { UsableKind } from "../../src/catalog/provider-kinds.ts";

/** Who has to do something about it. `model`: the operator, whose route names it. */
export type Fault = "caller" | "key" | "credit" | "limit" | "overloaded" | "model" | "vendor";

export interface ErrorBody {
  readonly what: string;
  /** 200: the failure is in the reply, or in an event of the stream. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it stands. */
  readonly body: Json;
  readonly fault: Fault;
  /** Where the fault leaves it open. */
  readonly code?: ErrorCode;
  /** One caller's input can be the cause, so it says little about the target. */
  readonly byInput?: boolean;
}

export interface VendorErrors {
  readonly vendor: string;
  /** The provider that speaks with it. */
  readonly kind: UsableKind;
  readonly bodies: readonly ErrorBody[];
}

const folder = join(import.meta.dir, "error-bodies");

export const vendorErrors: readonly VendorErrors[] = readdirSync(folder)
  .toSorted()
  .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as VendorErrors);

const faults: Readonly<Record<Fault, readonly [ErrorCode, UpstreamReason]>> = {
  caller: ["upstream_rejected", "refused"],
  key: ["upstream_unavailable", "auth"],
  credit: ["upstream_unavailable", "quota"],
  limit: ["upstream_rate_limited", "limited"],
  overloaded: ["upstream_overloaded", "overloaded"],
  model: ["upstream_unavailable", "missing"],
  vendor: ["upstream_error", "failed"],
};

export function expectedOf({ fault, code, byInput = false }: ErrorBody) {
  const [usual, reason] = faults[fault];
  return { code: code ?? usual, reason, byInput };
}

export function textOf({ body }: ErrorBody): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
