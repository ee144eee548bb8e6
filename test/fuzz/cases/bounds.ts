import type { TSchema } from "typebox";
import { type BodyKind, bodyKinds, kinds } from "./body-kinds.ts";
import type { Dice } from "./dice.ts";
import { RawText } from "./json-text.ts";

type Bound = readonly [of: "number" | "text" | "list", at: number, entry: string];

/** What a schema says of limits, without its kinds of values. */
interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: { readonly type?: string };
  readonly anyOf?: readonly Limits[];
}

const entries: Readonly<Record<string, string>> = { string: '"x"', integer: "1", array: "[1]" };

/** Every bound of a field, in each form that it may have. */
function boundsOf(schema: Limits): readonly Bound[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, items, anyOf } = schema;
  const entry = entries[items?.type ?? ""] ?? "{}";
  const all = [
    ["number", [minimum, maximum]],
    ["text", [minLength, maxLength]],
    ["list", [minItems, maxItems]],
  ] as const;
  return [
    ...all.flatMap(([of, ends]) =>
      ends.flatMap((at): Bound[] => (at === undefined ? [] : [[of, at, entry]])),
    ),
    ...(anyOf ?? []).flatMap(boundsOf),
  ];
}

const fieldsWithBounds = (properties: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(
    Object.entries(properties)
      .map(([field, schema]) => [field, boundsOf(schema as Limits)] as const)
      .filter(([field, found]) => field !== "model" && found.length > 0),
  );

/** The bounds of each kind's fields, as the contract's schemas have them. */
export const bounds = Object.fromEntries(
  bodyKinds.map((kind) => [kind, fieldsWithBounds(kinds[kind].schema.properties)]),
) as Readonly<Record<BodyKind, Readonly<Record<string, readonly Bound[]>>>>;

/** A value at one of the field's bounds, or on either side of it. */
export function valueAround(dice: Dice, kind: BodyKind, field: string): RawText {
  const [of, at, entry] = dice.pick(bounds[kind][field] ?? []);
  const size = Math.max(0, at + dice.pick([-1, 0, 1]));
  switch (of) {
    case "number": {
      const near = [size, at, at - 1, at + 0.5, at - 0.0001, at + 0.0001];
      return new RawText(String(dice.pick([...near, at + (dice.below(20_001) - 10_000) / 1_000])));
    }
    case "text":
      return new RawText(JSON.stringify("👋".repeat(size)));
    case "list":
      return new RawText(`[${dice.list(size, () => entry).join(",")}]`);
    default:
      return of satisfies never;
  }
}
