import { type Static, type TProperties, type TSchema, type TSchemaOptions, Type } from "typebox";
import { type PriceKey, priceKeys } from "../../call/price.ts";

/** An object with these fields and no others: what is misspelt is told, not ignored. */
export const fields = <T extends TProperties>(properties: T, options: TSchemaOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Completes the sentence "<field> must be …". */
export const says = (words: string): TSchemaOptions => ({ "x-says": words });

export const usd = (description: string) =>
  Type.String({ description: `${description} USD, as exact decimal text.` });

export const moment = (description = "UTC.") => Type.String({ format: "date-time", description });

/** A reply is built once and changed by nobody. */
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
        ? `text of at most ${options.most} characters`
        : `text of ${options.least} to ${options.most} characters`,
    ),
  });

export const limitFields = {
  rpm: Type.Optional(text({ most: 12, about: "Requests per minute, or `none`." })),
  tpm: Type.Optional(text({ most: 12, about: "Tokens per minute, or `none`." })),
  concurrency: Type.Optional(text({ most: 12, about: "Calls at once, or `none`." })),
  budget: Type.Optional(
    text({
      most: 40,
      about: "USD, alone or a day or a month: `5`, `5/day`, `5/month`; or `none`.",
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
  limit_usd: usd("Most that may be spent."),
  period: oneOf(["total", "day", "month"]),
  spent_usd: usd("Within the period that goes on now."),
});
export type BudgetView = View<typeof budgetReply>;

export const done = Type.Object({ ok: Type.Literal(true) });
export const isDone: Static<typeof done> = { ok: true };

export const prices = Type.Record(Type.String(), Type.String(), {
  description: "USD by class: a million tokens, an image, a second of video.",
});

const classUsd = Type.Optional(text({ most: 40 }));
/** What may be sent as a price or a cost. */
export const priceBody = fields(
  Object.fromEntries(priceKeys.map((key) => [key, classUsd])) as Record<PriceKey, typeof classUsd>,
  { description: "USD by class." },
);

/** Where an entry of the catalogue came from. */
export const source = Type.Object({
  kind: oneOf(["file", "store"]),
  file: nullable(Type.String({ description: "The name of the file that defines it." })),
  fields: Type.Array(Type.String(), {
    description: "What the file states: it can only be changed there.",
  }),
});
export type SourceView = View<typeof source>;
