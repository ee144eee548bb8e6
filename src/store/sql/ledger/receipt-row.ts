import { dialects } from "../../../call/dialect.ts";
import { endpoints } from "../../../call/endpoint.ts";
import type { Receipt } from "../../../ledger/receipt.ts";
import { toAttempts } from "./attempts.ts";

type NumberColumn =
  | "price_version"
  | "input"
  | "cached_input"
  | "cache_write"
  | "output"
  | "audio_output"
  | "image"
  | "video_second"
  | "reasoning"
  | "estimated"
  | "hold"
  | "cost"
  | "charged"
  | "duration_ms";
type TextColumn =
  | "id"
  | "account_id"
  | "key_id"
  | "model"
  | "endpoint"
  | "provider"
  | "attempts"
  | "outcome";
/** Null in receipts from before they were recorded. */
type LaterColumn =
  | "key_limits_version"
  | "account_limits_version"
  | "cost_version"
  | "cost_route"
  | "hold_input"
  | "hold_output"
  | "hold_audio"
  | "hold_image"
  | "hold_video"
  | "attempt_started_ms"
  | "is_streamed"
  | "audio_second"
  | "hold_audio_seconds";
export type ReceiptRow = Readonly<Record<LaterColumn, bigint | null>> &
  Readonly<Record<NumberColumn, bigint>> &
  Readonly<Record<TextColumn, string>> & {
    readonly upstream_model: string | null;
    readonly dialect: string | null;
    readonly vendor_cost: bigint | null;
    readonly first_byte_ms: bigint | null;
  };

export function toReceipt(row: ReceiptRow): Receipt {
  return {
    id: row.id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    endpoint: endpoints.find((known) => known === row.endpoint) ?? "chat",
    provider: row.provider,
    attempts: toAttempts(row),
    priceVersion: Number(row.price_version),
    units: {
      input: Number(row.input),
      cached_input: Number(row.cached_input),
      cache_write: Number(row.cache_write),
      output: Number(row.output),
      audio_output: Number(row.audio_output),
      image: Number(row.image),
      video_second: Number(row.video_second),
      ...(typeof row.audio_second === "bigint" ? { audio_second: Number(row.audio_second) } : {}),
    },
    reasoningTokens: Number(row.reasoning),
    estimated: row.estimated === 1n,
    hold: row.hold,
    cost: row.cost,
    charged: row.charged,
    vendorCost: row.vendor_cost ?? undefined,
    outcome: row.outcome,
    firstByteMs: row.first_byte_ms === null ? undefined : Number(row.first_byte_ms),
    durationMs: Number(row.duration_ms),
    // Not there where a command reads a database that has not been migrated.
    ...(typeof row.is_streamed === "bigint" ? { isStreamed: row.is_streamed === 1n } : {}),
    ...toDialect(row),
    ...toTerms(row),
  };
}

function toDialect(row: ReceiptRow): Pick<Receipt, "dialect"> {
  const dialect = dialects.find((known) => known === row.dialect);
  return dialect === undefined ? {} : { dialect };
}

function toTerms(row: ReceiptRow): Pick<Receipt, "terms"> {
  if (row.hold_input === null) return {};
  const cost =
    row.cost_version === null
      ? undefined
      : { version: Number(row.cost_version), route: Number(row.cost_route) };
  return {
    terms: {
      keyLimits: Number(row.key_limits_version),
      accountLimits: Number(row.account_limits_version),
      ...(cost === undefined ? {} : { cost }),
      hold: {
        input: Number(row.hold_input),
        output: Number(row.hold_output),
        audio: Number(row.hold_audio),
        image: Number(row.hold_image),
        video: Number(row.hold_video),
        ...(typeof row.hold_audio_seconds === "bigint"
          ? { audioSeconds: Number(row.hold_audio_seconds) }
          : {}),
      },
    },
  };
}
