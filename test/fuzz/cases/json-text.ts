/** JSON as the fuzzer writes it: values that no JSON writer would let out stand in it as raw text. */

export class RawText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type FuzzJson =
  | null
  | boolean
  | number
  | string
  | RawText
  | readonly FuzzJson[]
  | { readonly [name: string]: FuzzJson };

export type FuzzBody = { readonly [name: string]: FuzzJson };
export type Place = readonly (string | number)[];

/** Named members beyond those of the object, such as a second one of the same name. */
export function writeJson(value: FuzzJson, more = ""): string {
  if (value instanceof RawText) return value.text;
  if (Array.isArray(value))
    return `[${value.map((entry: FuzzJson) => writeJson(entry)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}:${writeJson(inner)}`,
  );
  return `{${[...members, ...(more === "" ? [] : [more])].join(",")}}`;
}

/** Every place in a value that can be changed, the whole left out. */
export function placesIn(value: FuzzJson, at: Place = []): readonly Place[] {
  if (typeof value !== "object" || value === null || value instanceof RawText) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...at, Array.isArray(value) ? Number(name) : name];
    return [place, ...placesIn(inner, place)];
  });
}

export function valueAt(body: FuzzJson, place: Place): unknown {
  return place.reduce<unknown>(
    (value, step) => (value as Readonly<Record<string | number, unknown>>)[step],
    body,
  );
}

/** The value of a text; undefined where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A copy with another value at a place, or with a field more; `undefined` takes it out. */
export function changed(value: FuzzJson, place: Place, to: FuzzJson | undefined): FuzzJson {
  const [step, ...rest] = place;
  if (step === undefined) return to ?? null;
  if (Array.isArray(value)) {
    const list: readonly FuzzJson[] = value;
    if (rest.length === 0 && to === undefined) return list.filter((_, at) => at !== step);
    return list.map((inner, at) => (at === step ? changed(inner, rest, to) : inner));
  }
  if (typeof value !== "object" || value === null || value instanceof RawText) return value;
  const { [step]: inner, ...others } = value as FuzzBody;
  if (rest.length === 0) return to === undefined ? others : { ...value, [step]: to };
  return inner === undefined ? value : { ...value, [step]: changed(inner, rest, to) };
}

/** As errors name it: messages[0].content */
export function toName(place: Place): string {
  return place
    .map((step, at) => {
      if (typeof step === "number") return `[${step}]`;
      return at === 0 ? step : `.${step}`;
    })
    .join("");
}
