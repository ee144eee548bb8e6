import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type as TypeBox } from "typebox";
import { Type as ours } from "./type.ts";

/** The types are the same, so one function builds with either. */
const samples = (Type: typeof ours) => {
  const about = { description: "text" };
  const id = Type.String({ minLength: 1, ...about });
  const person = Type.Object(
    { id, name: Type.Optional(id), age: Type.Integer({ minimum: 0 }) },
    { additionalProperties: false },
  );
  return {
    plain: [
      Type.String(),
      Type.Number(),
      Type.Integer(),
      Type.Boolean(),
      Type.Null(about),
      Type.Unknown(),
      Type.Unknown(about),
    ],
    literals: [Type.Literal("a"), Type.Literal(true, about), Type.Literal(3)],
    enums: [Type.Enum(["a", "b"]), Type.Enum(["a"], about)],
    unions: [Type.Union([id, Type.Null()]), Type.Union([id], about)],
    arrays: [Type.Array(person), Type.Array(id, { maxItems: 3 })],
    records: [Type.Record(Type.String(), id), Type.Record(Type.String(), person, about)],
    unsafe: [Type.Unsafe<null>({ type: "null" })],
    objects: [
      person,
      Type.Object({}),
      Type.Object({ a: Type.Optional(id) }),
      // An optional one that is used again as it is.
      Type.Object({ a: Type.Optional(person), b: person }),
      Type.Object({ ...person.properties, extra: Type.Optional(Type.Null()) }),
    ],
    parts: [
      Type.Omit(person, ["age"]),
      Type.Omit(person, ["id", "name"]),
      Type.Pick(person, ["name", "age"]),
      Type.Object(Type.Pick(person, ["name"]).properties),
    ],
  };
};

test("builds the schemas that TypeBox builds, in the same order of fields", () => {
  const [own, theirs] = [samples(ours), samples(TypeBox)];
  expect(own).toEqual(theirs);
  expect(JSON.stringify(own)).toBe(JSON.stringify(theirs));
});

test("nothing that runs loads the package", async () => {
  const root = join(import.meta.dir, "..", "..");
  const loading: string[] = [];
  for await (const file of new Bun.Glob("**/*.ts").scan(root)) {
    const text = readFileSync(join(root, file), "utf8");
    if (/^import (?!type ).*from "typebox/m.test(text) && !file.endsWith(".test.ts"))
      loading.push(file);
  }
  expect(loading).toEqual([]);
});
