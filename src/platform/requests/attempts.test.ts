import { expect, test } from "bun:test";
import { ApiError, errorKinds } from "../../base/errors.ts";
import { reasonText } from "../../router/attempt.ts";
import { fromAttemptsText, outcomeWords } from "./attempts.ts";

const served = (provider: string, model: string) => ({
  provider,
  model,
  outcome: "served",
  detail: null,
});

test("one attempt, several, and none at all are told apart", () => {
  expect(fromAttemptsText("")).toEqual([]);
  expect(fromAttemptsText("acme/m-1")).toEqual([served("acme", "m-1")]);
  expect(
    fromAttemptsText(
      "acme/m-1 upstream_timeout, other/vendor/m upstream_error (503: try (again); later), third/m",
    ),
  ).toEqual([
    { provider: "acme", model: "m-1", outcome: "upstream_timeout", detail: null },
    {
      provider: "other",
      model: "vendor/m",
      outcome: "upstream_error",
      detail: "503: try (again); later",
    },
    served("third", "m"),
  ]);
  expect(fromAttemptsText("none: upstream_unavailable (no route of m leads on)")).toEqual([
    {
      provider: null,
      model: null,
      outcome: "upstream_unavailable",
      detail: "no route of m leads on",
    },
  ]);
});

test("whatever the router writes of a failure is read back as it was", () => {
  const details = [
    undefined,
    "plain",
    "with, commas, in/it",
    "upstream_error (inner)",
    "two\nlines",
    "x".repeat(500),
    ")(",
  ];
  const models = ["m", "vendor/m", "a b c", "m upstream", "model (beta)"];
  for (const code of Object.keys(errorKinds) as (keyof typeof errorKinds)[])
    for (const detail of details)
      for (const model of models) {
        const reason = reasonText(new ApiError({ code, message: "x", detail }));
        const text = `one/${model} ${reason}, two/${model} ${reason}, three/${model}`;
        const told = detail?.replaceAll(",", ";").slice(0, 200) ?? null;
        expect(fromAttemptsText(text)).toEqual([
          { provider: "one", model, outcome: code, detail: told },
          { provider: "two", model, outcome: code, detail: told },
          served("three", model),
        ]);
      }
});

test("every outcome has words that are no code", () => {
  for (const code of ["ok", "left", "served", ...Object.keys(errorKinds)])
    expect(outcomeWords(code)).toMatch(/^[a-z]+( [a-z]+)*$/);
});
