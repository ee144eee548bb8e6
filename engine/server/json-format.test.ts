import { expect, test } from "bun:test";
import { toJsonFormat } from "./json-format.ts";

const format = (schema: object) => toJsonFormat({ type: "json_schema", json_schema: { schema } });
/** Two choices at each level. */
const bomb = (levels: number) => ({
  $defs: Object.fromEntries(
    Array.from({ length: levels + 1 }, (_, at) => {
      const next = { $ref: `#/$defs/l${at + 1}` };
      return [`l${at}`, at === levels ? { type: "string" } : { oneOf: [next, { ...next }] }];
    }),
  ),
  $ref: "#/$defs/l0",
});

test("plain text and any JSON need no schema", () => {
  expect(toJsonFormat(undefined)).toBeUndefined();
  expect(toJsonFormat({ type: "text" })).toBeUndefined();
  expect(toJsonFormat({ type: "json_object" })).toBe("any");
});

test("a schema whose choices multiply is refused, before any grammar is made of it", () => {
  expect(() => format(bomb(40))).toThrow("expands to more than");
  expect(format(bomb(3))).toHaveProperty("$ref");
});

test("a schema that leads back to itself has an end", () => {
  const tree = {
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    $ref: "#/$defs/node",
  };
  expect(format(tree)).toEqual(tree);
});

test("anyOf, as most tools write optional values, is what the grammar calls oneOf", () => {
  const optional = { properties: { a: { anyOf: [{ type: "string" }, { type: "null" }] } } };
  expect(format(optional)).toEqual({
    properties: { a: { oneOf: [{ type: "string" }, { type: "null" }] } },
  });
});
