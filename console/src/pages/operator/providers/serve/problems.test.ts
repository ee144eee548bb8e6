import { expect, test } from "bun:test";
import { ApiProblem } from "../../../../api.ts";
import type { Proposal, RowChange } from "./pricing.ts";
import { placeProblem } from "./problems.ts";

const proposal = { upstream: "mini", endpoint: "chat", input: "text" } as Proposal;
const place = (field: string, change: RowChange = {}) =>
  placeProblem(
    new ApiProblem({ status: 400, code: "invalid", message: "no", field }),
    [proposal],
    () => change,
  );

test("a problem is shown at the field that was typed in, for one model or for all", () => {
  expect(place("models[0].id").inRow).toMatchObject({ upstream: "mini", problem: { field: "id" } });
  expect(place("models[0].price.input", { mode: "own" }).inRow?.problem.field).toBe("price.input");
  expect(place("models[0].markup", { mode: "markup" }).inRow?.problem.field).toBe("markup");
  expect(place("models[0].price.input").forAll?.field).toBe("chat.input");
  expect(place("models[0].markup").forAll?.field).toBe("markup");
});

test("a problem without a field of its own is shown below all fields", () => {
  for (const field of ["models[0].upstream", "models[7].id", "models", "name"])
    expect(place(field)).toMatchObject({ forAll: null, inRow: undefined, elsewhere: { field } });
  expect(placeProblem(null, [proposal], () => ({})).elsewhere).toBeNull();
});
