import { Type } from "../../base/json/type.ts";
import { moment, nullable, oneOf, usd, type View } from "../http/schemas.ts";

const forOperators = (words: string) => ({ description: `${words} Operators only.` });

const row = {
  id: Type.String({ description: "Same as the x-request-id header of the reply." }),
  account: Type.String(),
  key: Type.String(),
  model: Type.String(),
  endpoint: Type.String(),
  dialect: nullable(
    Type.String({
      description:
        "API format of a call to a chat model: chat, responses, messages or completions. Null for other endpoints and in older receipts.",
    }),
  ),
  outcome: Type.String({ description: "ok, left (the client disconnected), or an error code." }),
  outcome_words: Type.String({ description: "The outcome as a short label." }),
  status: nullable(
    Type.Integer({
      description:
        "HTTP status of the reply; 200 once it had begun. Null if the client disconnected before.",
    }),
  ),
  streamed: nullable(Type.Boolean({ description: "Null in older receipts." })),
  units: Type.Record(Type.String(), Type.Integer(), {
    description: "Number of units by price class.",
  }),
  reasoning_tokens: Type.Integer({ description: "Included in the output tokens." }),
  estimated: Type.Boolean({
    description: "Whether the gateway estimated the usage because the provider reported none.",
  }),
  hold_usd: usd("Amount held."),
  cost_usd: usd("Cost of the units."),
  charged_usd: usd("Amount charged."),
  shortfall_usd: usd("Cost beyond what could be charged."),
  started_at: moment(),
  first_byte_ms: nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  provider: Type.Optional(
    nullable(Type.String(forOperators("The provider that served it or was tried last."))),
  ),
  vendor_cost_usd: Type.Optional(nullable(Type.String(forOperators("Vendor cost in USD.")))),
  margin_usd: Type.Optional(
    nullable(Type.String(forOperators("Charged amount minus vendor cost, in USD."))),
  ),
};

export const receiptRowReply = Type.Object(row);
export type ReceiptRow = View<typeof receiptRowReply>;

export const receiptReply = Type.Object({
  ...row,
  timeline: Type.Object({
    started_at: moment(),
    first_byte_ms: nullable(Type.Integer()),
    duration_ms: Type.Integer(),
    ended_at: moment(),
  }),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer({ description: "Number of the attempt, from 1." }),
      outcome: Type.String({ description: "served, or an error code." }),
      outcome_words: Type.String(),
      started_ms: nullable(
        Type.Integer({
          description: "Since the start of the request. Null in older receipts.",
        }),
      ),
      duration_ms: nullable(Type.Integer({ description: "Duration of this attempt." })),
      provider: Type.Optional(
        nullable(Type.String(forOperators("Null if no target was available."))),
      ),
      model: Type.Optional(nullable(Type.String(forOperators("Model name at the provider.")))),
      key: Type.Optional(
        Type.String(forOperators("Name of the provider's key, if the provider has several.")),
      ),
      status: Type.Optional(
        nullable(Type.Integer(forOperators("HTTP status of the upstream error."))),
      ),
      detail: Type.Optional(nullable(Type.String(forOperators("Why it failed.")))),
    }),
  ),
  price_version: Type.Integer(),
  limits_versions: nullable(
    Type.Object(
      { key: Type.Integer(), account: Type.Integer() },
      { description: "Versions of the limits at admission; 0 if there were none." },
    ),
  ),
  hold_parts: nullable(
    Type.Object(
      {
        input: Type.Integer({ description: "Tokens, at the highest input price." }),
        output: Type.Integer({ description: "Tokens of all choices in total." }),
        audio: Type.Integer({ description: "Audio output tokens." }),
        image: Type.Integer(),
        video: Type.Integer({ description: "Seconds." }),
        audio_seconds: Type.Optional(Type.Integer({ description: "Seconds of audio." })),
      },
      { description: "Components of the hold." },
    ),
  ),
  cost_version: Type.Optional(
    nullable(Type.Integer(forOperators("Version of the route costs of the model."))),
  ),
  arithmetic: nullable(
    Type.Object({
      rows: Type.Array(
        Type.Object({
          class: Type.String(),
          words: Type.String(),
          units: Type.Integer(),
          price_usd: usd("Price per million units, per image or per second."),
          per: oneOf(["million", "image", "second"]),
          cost_usd: usd("Exact cost of this row."),
        }),
      ),
      sum_usd: usd("Sum before rounding."),
      rounding_usd: usd("Amount added by rounding; a receipt is rounded up once."),
      cost_usd: usd("Sum, rounded up."),
      adds_up: Type.Boolean(),
    }),
  ),
});
export type ReceiptView = View<typeof receiptReply>;
export type AttemptView = ReceiptView["attempts"][number];
export type ArithmeticView = NonNullable<ReceiptView["arithmetic"]>;
