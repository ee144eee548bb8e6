/** What an attribute can be; undefined leaves it out. */
export type Attribute = string | number | bigint | boolean | readonly string[] | undefined;
export type Attributes = Readonly<Record<string, Attribute>>;

type Value =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly Value[] } };

export interface KeyValue {
  readonly key: string;
  readonly value: Value;
}

/** OTLP in JSON: integers of 64 bits are text, because a number of JSON would lose digits. */
export function toKeyValues(attributes: Attributes): readonly KeyValue[] {
  const list: KeyValue[] = [];
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) list.push({ key, value: toValue(value) });
  }
  return list;
}

function toValue(value: Exclude<Attribute, undefined>): Value {
  switch (typeof value) {
    case "string":
      return { stringValue: value };
    case "boolean":
      return { boolValue: value };
    case "bigint":
      return { intValue: String(value) };
    case "number":
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
  }
}

/** Milliseconds since 1970 as nanoseconds; the clock has no finer ones. */
export const toUnixNano = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;
