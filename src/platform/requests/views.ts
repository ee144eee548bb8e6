import { toDateText } from "../../base/dates.ts";
import { toDecimal } from "../../base/decimal.ts";
import { idTimeMs } from "../../base/ids.ts";
import { toUsd } from "../../base/money.ts";
import { outcomeLabel } from "../../call/outcome.ts";
import {
  costOf,
  isSecond,
  type Price,
  type PriceKey,
  priceKeys,
  priceScale,
  unitPrice,
} from "../../call/price.ts";
import type { Model } from "../../catalog/model.ts";
import { toAttemptJson } from "../../ledger/attempt.ts";
import type { HoldParts } from "../../ledger/need.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { replyStatus } from "../../ledger/reply-status.ts";
import type { ArithmeticView, AttemptView, ReceiptRow, ReceiptView } from "./schemas.ts";

/** Members of an account see nothing about vendors: no names, no messages, no costs. */
interface Audience {
  readonly forOperator: boolean;
}

export const unitWords: Readonly<Record<PriceKey, string>> = {
  input: "input tokens",
  cached_input: "cached input tokens",
  cache_write: "cache write tokens",
  output: "output tokens",
  audio_output: "audio output tokens",
  image: "images",
  video_second: "seconds of video",
  audio_second: "seconds of audio",
};

export function toReceiptRow({ receipt, forOperator }: Audience & { readonly receipt: Receipt }) {
  const { id, cost, charged, vendorCost } = receipt;
  const row: ReceiptRow = {
    id,
    account: receipt.accountId,
    key: receipt.keyId,
    model: receipt.model,
    endpoint: receipt.endpoint,
    dialect: receipt.dialect ?? null,
    outcome: receipt.outcome,
    outcome_words: outcomeLabel(receipt.outcome),
    status: replyStatus(receipt) ?? null,
    streamed: receipt.isStreamed ?? null,
    units: usedUnits(receipt),
    reasoning_tokens: receipt.reasoningTokens,
    estimated: receipt.estimated,
    hold_usd: toUsd(receipt.hold),
    cost_usd: toUsd(cost),
    charged_usd: toUsd(charged),
    shortfall_usd: toUsd(cost - charged),
    started_at: toDateText(idTimeMs(id)),
    first_byte_ms: receipt.firstByteMs ?? null,
    duration_ms: receipt.durationMs,
  };
  if (!forOperator) return row;
  return {
    ...row,
    provider: receipt.provider === "" ? null : receipt.provider,
    vendor_cost_usd: vendorCost === undefined ? null : toUsd(vendorCost),
    margin_usd: vendorCost === undefined ? null : toUsd(charged - vendorCost),
  };
}

export function toReceiptView(
  options: Audience & {
    readonly receipt: Receipt;
    /** Of the receipt's version; undefined: it is not known. */
    readonly price: Price | undefined;
  },
): ReceiptView {
  const { receipt, price, forOperator } = options;
  const { terms } = receipt;
  const row = toReceiptRow(options);
  const { started_at, first_byte_ms, duration_ms } = row;
  return {
    ...row,
    timeline: {
      started_at,
      first_byte_ms,
      duration_ms,
      ended_at: toDateText(idTimeMs(receipt.id) + duration_ms),
    },
    attempts: toAttemptViews(receipt, forOperator),
    price_version: receipt.priceVersion,
    limits_versions:
      terms === undefined ? null : { key: terms.keyLimits, account: terms.accountLimits },
    hold_parts: terms === undefined ? null : toHoldParts(terms.hold),
    ...(forOperator ? { cost_version: terms?.cost?.version ?? null } : {}),
    arithmetic: price === undefined ? null : toArithmeticView(receipt, price),
  };
}

function toAttemptViews({ attempts }: Receipt, forOperator: boolean): readonly AttemptView[] {
  return attempts.map(toAttemptJson).map((attempt, at) => {
    const { provider, model, key, code = "served", status = null, detail = null } = attempt;
    const { started_ms, duration_ms } = attempt;
    return {
      number: at + 1,
      outcome: code,
      outcome_words: outcomeLabel(code),
      started_ms,
      duration_ms,
      ...(forOperator
        ? { provider, model, ...(key === undefined ? {} : { key }), status, detail }
        : {}),
    };
  });
}

/** The price that a receipt was worked out with. */
export function priceOfReceipt(
  models: readonly Model[],
  { model, priceVersion }: Receipt,
): Price | undefined {
  const prices = models.find(({ id }) => id === model)?.prices;
  return prices?.find(({ version }) => version === priceVersion)?.price;
}

export interface Arithmetic {
  /** Amounts and the sum in millionths of a nano-USD: nothing is smaller. */
  readonly rows: readonly {
    readonly key: PriceKey;
    readonly units: number;
    readonly each: bigint;
    readonly amount: bigint;
  }[];
  readonly sum: bigint;
  /** The sum, rounded up once, in nano-USD. */
  readonly cost: bigint;
}

export function workOut({ units }: Pick<Receipt, "units">, price: Price): Arithmetic {
  const rows = priceKeys.flatMap((key) => {
    const count = units[key] ?? 0;
    const each = unitPrice(price, key);
    return count === 0 ? [] : [{ key, units: count, each, amount: BigInt(count) * each }];
  });
  const sum = rows.reduce((total, { amount }) => total + amount, 0n);
  return { rows, sum, cost: costOf(units, price) };
}

/** An amount of an Arithmetic, with every digit there is. */
export const toExactUsd = (amount: bigint) => toDecimal(amount, 15, 2);

/** In USD: a million tokens, an image, a second of video or audio. */
export const toUnitPriceUsd = (key: PriceKey, each: bigint) => toDecimal(each, priceScale(key), 2);

const million = 1_000_000n;

function toArithmeticView(receipt: Receipt, price: Price): ArithmeticView {
  const { rows, sum, cost } = workOut(receipt, price);
  return {
    rows: rows.map(({ key, units, each, amount }) => ({
      class: key,
      words: unitWords[key],
      units,
      price_usd: toUnitPriceUsd(key, each),
      per: perOf(key),
      cost_usd: toExactUsd(amount),
    })),
    sum_usd: toExactUsd(sum),
    rounding_usd: toExactUsd(cost * million - sum),
    cost_usd: toUsd(cost),
    adds_up: cost === receipt.cost,
  };
}

function perOf(key: PriceKey): ArithmeticView["rows"][number]["per"] {
  if (key === "image") return "image";
  return isSecond(key) ? "second" : "million";
}

function usedUnits({ units }: Receipt): Readonly<Record<string, number>> {
  return Object.fromEntries(
    priceKeys.flatMap((key) => ((units[key] ?? 0) === 0 ? [] : [[key, units[key] ?? 0] as const])),
  );
}

const toHoldParts = ({ audioSeconds, ...parts }: HoldParts) =>
  audioSeconds === undefined ? parts : { ...parts, audio_seconds: audioSeconds };
