import { endpoints } from "../call/endpoint.ts";
import type { Receipt } from "../ledger/receipt.ts";

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
export type ReceiptRow = Readonly<Record<NumberColumn, bigint>> &
  Readonly<Record<TextColumn, string>> & {
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
    attempts: row.attempts,
    priceVersion: Number(row.price_version),
    units: {
      input: Number(row.input),
      cached_input: Number(row.cached_input),
      cache_write: Number(row.cache_write),
      output: Number(row.output),
      audio_output: Number(row.audio_output),
      image: Number(row.image),
      video_second: Number(row.video_second),
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
  };
}
