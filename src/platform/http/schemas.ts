import type { Static, TProperties, TSchema, TSchemaOptions } from "typebox";
import { Type } from "../../base/json/type.ts";
import { type PriceKey, priceKeys } from "../../call/price.ts";

/** An object with these fields and no others: a misspelled field is an error, not ignored. */
export const fields = <T extends TProperties>(properties: T, options: TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Completes the sentence "<field> must be …". */
export const says = (words: string): TSchemaOptions => ({ "x-says": words });

export const usd = (description: string) =>
  Type.String({ description: `${description} USD, as an exact decimal string.` });

export const moment = (description = "UTC.") => Type.String({ format: "date-time", description });

/** A reply is immutable. */
type Final<T> = T extends readonly (infer Item)[]
  ? readonly Final<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Final<T[Key]> }
    : T;

/** What has the shape of a schema: declared once, for operations and replies alike. */
export type View<Schema extends TSchema> = Final<Static<Schema>>;

/** What is sent by this schema, or by a command, which leaves a field out or undefined. */
export type Input<Schema extends TSchema> = Loose<Static<Schema>>;

type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? {
        readonly [Key in keyof T]: object extends Pick<T, Key>
          ? Loose<T[Key]> | undefined
          : Loose<T[Key]>;
      }
    : T;

/** One of some words. */
export const oneOf = <const T extends readonly string[]>(words: T, options: TSchemaOptions = {}) =>
  Type.Unsafe<T[number]>({
    type: "string",
    enum: [...words],
    "x-says": `one of ${words.join(", ")}`,
    ...options,
  });

export const text = (options: { readonly most: number; readonly about?: string; least?: number }) =>
  Type.String({
    minLength: options.least ?? 0,
    maxLength: options.most,
    ...(options.about === undefined ? {} : { description: options.about }),
    ...says(
      options.least === undefined || options.least === 0
        ? `a string of at most ${options.most} characters`
        : `a string of ${options.least} to ${options.most} characters`,
    ),
  });

export const limitFields = {
  rpm: Type.Optional(text({ most: 12, about: "Requests per minute, or `none`." })),
  tpm: Type.Optional(text({ most: 12, about: "Tokens per minute, or `none`." })),
  concurrency: Type.Optional(text({ most: 12, about: "Concurrent requests, or `none`." })),
  budget: Type.Optional(
    text({
      most: 40,
      about: "USD in total, per day or per month: `5`, `5/day`, `5/month`; or `none`.",
    }),
  ),
};

export const limitBody = fields(limitFields);

export const limitsReply = Type.Object({
  rpm: nullable(Type.String()),
  tpm: nullable(Type.String()),
  concurrency: nullable(Type.String()),
  budget: nullable(Type.String()),
});

export type LimitsView = View<typeof limitsReply>;

export const budgetReply = Type.Object({
  limit_usd: usd("Maximum spend."),
  period: oneOf(["total", "day", "month"]),
  spent_usd: usd("Spend in the current period."),
});
export type BudgetView = View<typeof budgetReply>;

export const done = Type.Object({ ok: Type.Literal(true) });
export const isDone: Static<typeof done> = { ok: true };

export const prices = Type.Record(Type.String(), Type.String(), {
  description: "USD by class: per million tokens, per image, per second of video or audio.",
});

const classUsd = Type.Optional(text({ most: 40 }));
/** What may be sent as a price or a cost. */
export const priceBody = fields(
  Object.fromEntries(priceKeys.map((key) => [key, classUsd])) as Record<PriceKey, typeof classUsd>,
  { description: "USD by class." },
);

/** The source of a catalog entry. */
export const source = Type.Object({
  kind: oneOf(["file", "store"]),
  file: nullable(Type.String({ description: "Name of the file that defines it." })),
  fields: Type.Array(Type.String(), {
    description: "Fields set by the file; they can be changed only there.",
  }),
});
export type SourceView = View<typeof source>;
