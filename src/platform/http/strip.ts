import type { TSchema } from "typebox";

type Strip = (value: unknown) => unknown;

interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly anyOf?: readonly Shape[];
}

/**
 * Makes a function that leaves out of a reply what its schema does not name. What an operation
 * gives for operators can so never reach a member by accident: a field that nobody described is
 * not sent. It is compiled once for each route, and takes about as much time as writing the JSON.
 */
export function toStrip(schema: TSchema): Strip {
  return compile(schema as Shape) ?? ((value) => value);
}

/** Undefined where there is nothing to leave out. */
function compile(shape: Shape): Strip | undefined {
  if (shape.anyOf !== undefined) return ofVariants(shape.anyOf);
  if (shape.items !== undefined) return ofItems(shape.items);
  if (shape.properties !== undefined) return ofObject(shape.properties);
  const [values] = Object.values(shape.patternProperties ?? {});
  return values === undefined ? undefined : ofRecord(values);
}

/** Most objects have no field too many: these are given as they are, and not copied. */
function ofObject(properties: Readonly<Record<string, Shape>>): Strip {
  const fields = new Map(Object.entries(properties).map(([name, shape]) => [name, compile(shape)]));
  const nested = [...fields].flatMap(([name, strip]) =>
    strip === undefined ? [] : [[name, strip] as const],
  );
  return (value) => {
    if (!isObject(value)) return value;
    let kept: Record<string, unknown> | undefined;
    for (const name in value)
      if (!fields.has(name)) {
        kept ??= { ...value };
        delete kept[name];
      }
    for (const [name, strip] of nested) {
      const field = value[name];
      const stripped = strip(field);
      if (stripped === field) continue;
      kept ??= { ...value };
      kept[name] = stripped;
    }
    return kept ?? value;
  };
}

function ofItems(shape: Shape): Strip | undefined {
  const strip = compile(shape);
  return strip && ((value) => (Array.isArray(value) ? value.map(strip) : value));
}

function ofRecord(shape: Shape): Strip | undefined {
  const strip = compile(shape);
  if (strip === undefined) return undefined;
  return (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, strip(one)]))
      : value;
}

/** One of them has fields, and the others are null or words. */
function ofVariants(shapes: readonly Shape[]): Strip | undefined {
  const [strip, ...others] = shapes.flatMap((shape) => compile(shape) ?? []);
  if (others.length > 0) throw new Error("a reply schema has a union of two object types");
  return strip;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
