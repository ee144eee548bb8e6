import { expect, test } from "bun:test";
import { toSafeCallId } from "./tool-call-id.ts";

test("an id that every vendor accepts stays as it is", () => {
  for (const id of ["toolu_01AbC", "call_1-2", "a"]) expect(toSafeCallId(id)).toBe(id);
});

test("any other id becomes an accepted one: always the same, and different for different ids", () => {
  const ids = ["functions.look:0", "functions.look.0", "functions_look_0", "", "é", "x".repeat(65)];
  const safe = ids.map(toSafeCallId);
  for (const id of safe) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(new Set(safe).size).toBe(ids.length);
  expect(ids.map(toSafeCallId)).toEqual(safe);
});
