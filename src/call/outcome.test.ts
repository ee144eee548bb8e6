import { expect, test } from "bun:test";
import { errorKinds } from "../base/errors.ts";
import { outcomeLabel } from "./outcome.ts";

test("every outcome has a short label that is no code", () => {
  for (const code of ["left", ...Object.keys(errorKinds)]) {
    expect(outcomeLabel(code)).toMatch(/^[A-Z][a-z]+( [a-z]+)*$/);
    expect(outcomeLabel(code).length).toBeLessThanOrEqual(26);
  }
  expect([outcomeLabel("ok"), outcomeLabel("served")]).toEqual(["OK", "OK"]);
});
