import { expect, test } from "bun:test";
import { Echo } from "./echo.ts";

const own = (prompt: string, ...pieces: readonly string[]) => {
  const echo = new Echo(prompt);
  return pieces.map((piece) => echo.ownIn(piece));
};

test("a prompt that comes back is not the model's, however it is cut into pieces", () => {
  expect(own("Once upon", "Once upon", " a time")).toEqual(["", " a time"]);
  expect(own("Once upon", "Once upon a", " time")).toEqual([" a", " time"]);
  expect(own("Once upon", "On", "", "ce", " upon a", " time")).toEqual(["", "", "", " a", " time"]);
  // It is repeated once: what the model repeats again is its own.
  expect(own("a", "a", "a", "aa")).toEqual(["", "a", "aa"]);
});

test("an answer that does not begin with the prompt is the model's from the start", () => {
  expect(own("Once upon", "There was", "Once upon")).toEqual(["There was", "Once upon"]);
  expect(own("Once upon", "Once", " more")).toEqual(["", " more"]);
});
