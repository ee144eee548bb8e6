import { Type } from "typebox";
import { moment, nullable, oneOf, usd, type View } from "../http/schemas.ts";

const forOperators = (words: string) => ({ description: `${words} For operators alone.` });

const row = {
  id: Type.String({ description: "As in the x-request-id header of the reply." }),
  account: Type.String(),
  key: Type.String(),
  model: Type.String(),
  endpoint: Type.String(),
  outcome: Type.String({ description: "ok, left, or the code of the error that ended it." }),
  outcome_words: Type.String(),
  units: Type.Record(Type.String(), Type.Integer(), {
    description: "Of each class that was used.",
  }),
  reasoning_tokens: Type.Integer({ description: "Part of the output." }),
  estimated: Type.Boolean({ description: "No upstream counted: the gateway did." }),
  hold_usd: usd("What was set aside."),
  cost_usd: usd("What the units cost."),
  charged_usd: usd("What was taken."),
  shortfall_usd: usd("What it cost beyond what could be taken."),
  started_at: moment(),
  first_byte_ms: nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  provider: Type.Optional(nullable(Type.String(forOperators("Who served it, or was tried last.")))),
  vendor_cost_usd: Type.Optional(nullable(Type.String(forOperators("What the vendor asks.")))),
  margin_usd: Type.Optional(nullable(Type.String(forOperators("Charged less the vendor's cost.")))),
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
      number: Type.Integer({ description: "From 1, in their order." }),
      outcome: Type.String({ description: "served, or the code of what went wrong." }),
      outcome_words: Type.String(),
      started_ms: nullable(
        Type.Integer({
          description:
            "From the start of the request. Null in receipts from before it was recorded.",
        }),
      ),
      duration_ms: nullable(Type.Integer({ description: "Of this attempt alone." })),
      provider: Type.Optional(
        nullable(Type.String(forOperators("Null where no target could be asked."))),
      ),
      model: Type.Optional(nullable(Type.String(forOperators("As the provider calls it.")))),
      status: Type.Optional(
        nullable(Type.Integer(forOperators("The HTTP status that the upstream failed with."))),
      ),
      detail: Type.Optional(nullable(Type.String(forOperators("Why it failed.")))),
    }),
  ),
  price_version: Type.Integer(),
  limits_versions: nullable(
    Type.Object(
      { key: Type.Integer(), account: Type.Integer() },
      { description: "Of the limits that it was admitted by; 0 where there had never been any." },
    ),
  ),
  hold_parts: nullable(
    Type.Object(
      {
        input: Type.Integer({ description: "Tokens, at the dearest input price." }),
        output: Type.Integer({ description: "Tokens, of all choices together." }),
        audio: Type.Integer({ description: "Audio output tokens." }),
        image: Type.Integer(),
        video: Type.Integer({ description: "Seconds." }),
      },
      { description: "What the hold is made of." },
    ),
  ),
  cost_version: Type.Optional(
    nullable(Type.Integer(forOperators("The version of the model's route costs."))),
  ),
  arithmetic: nullable(
    Type.Object({
      rows: Type.Array(
        Type.Object({
          class: Type.String(),
          words: Type.String(),
          units: Type.Integer(),
          price_usd: usd("A million units, an image or a second."),
          per: oneOf(["million", "image", "second"]),
          cost_usd: usd("Of this row, to the last digit."),
        }),
      ),
      sum_usd: usd("Before it is rounded up."),
      rounding_usd: usd("What rounding adds; a receipt is rounded up once."),
      cost_usd: usd("The sum, rounded up."),
      adds_up: Type.Boolean(),
    }),
  ),
});
export type ReceiptView = View<typeof receiptReply>;
export type AttemptView = ReceiptView["attempts"][number];
export type ArithmeticView = NonNullable<ReceiptView["arithmetic"]>;
