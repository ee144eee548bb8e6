import { expect, test } from "bun:test";
import { findIn, mostOfAKind } from "./find.ts";

const item = (name: string, id = `id_${name}`, detail = "") => ({ name, id, detail });
const names = (query: string, ...items: readonly ReturnType<typeof item>[]) =>
  findIn(items, query).map(({ name }) => name);

test("finds by name, id and detail, whatever the case", () => {
  const ada = item("Ada Lovelace", "user_7", "ada@example.com");
  expect(names("ADA", ada)).toEqual(["Ada Lovelace"]);
  expect(names("user_7", ada)).toEqual(["Ada Lovelace"]);
  expect(names("@example", ada)).toEqual(["Ada Lovelace"]);
  expect(names("grace", ada)).toEqual([]);
});

test("every word counts, in any order", () => {
  expect(names("corp acme", item("Acme Corp"), item("Acme Labs"))).toEqual(["Acme Corp"]);
});

test("the exact name comes first, then those that begin with it", () => {
  expect(names("ci", item("my ci"), item("ci-2"), item("ci"))).toEqual(["ci", "ci-2", "my ci"]);
});

test("nothing typed finds nothing, and a common word only so many", () => {
  const many = Array.from({ length: 100 }, (_, at) => item(`key ${at}`));
  expect(findIn(many, "  ")).toEqual([]);
  expect(findIn(many, "key")).toHaveLength(mostOfAKind);
});
