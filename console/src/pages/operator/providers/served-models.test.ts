import { expect, test } from "bun:test";
import type { TargetState } from "../../../../../src/catalog/state.ts";
import { keysByState, partFailing, servedModels } from "./served-models.ts";
import type { Provider } from "./words.ts";

const target = (model: string, key: string | null, status: TargetState) => ({
  model,
  key,
  status,
  state: "closed" as const,
  reason: null,
  since: null,
  until: null,
  requests: 0,
  failures: 0,
});
const provider = (
  targets: readonly ReturnType<typeof target>[],
  keys: readonly TargetState[] = ["serving"],
) =>
  ({
    status: targets.some(({ status }) => status === "failing") ? "failing" : "serving",
    targets,
    keys: keys.map((status) => ({ status })),
  }) as unknown as Provider;

test("a model is listed once, by its best key, and what needs attention comes first", () => {
  const models = servedModels(
    provider([
      target("fine", "a", "serving"),
      target("fine", "b", "serving"),
      target("half", "a", "failing"),
      target("half", "b", "serving"),
      target("bad", "a", "failing"),
      target("bad", "b", "failing"),
    ]),
  );
  expect(models.map(({ model, state }) => [model, state])).toEqual([
    ["bad", "failing"],
    ["half", "serving"],
    ["fine", "serving"],
  ]);
  expect(models.map(keysByState)[1]).toEqual([
    { state: "failing", keys: ["a"] },
    { state: "serving", keys: ["b"] },
  ]);
});

test("what fails of a provider is named while the rest works", () => {
  const [good, bad] = [target("good", null, "serving"), target("bad", null, "failing")];
  expect(partFailing(provider([good]))).toBeUndefined();
  expect(partFailing(provider([bad]))).toBeUndefined();
  expect(partFailing(provider([good, bad]))).toBe("1 of 2 models failing");
  const byKeys = [target("x", "a", "serving"), target("x", "b", "failing")];
  expect(partFailing(provider(byKeys, ["serving", "failing"]))).toBe("1 of 2 keys failing");
  expect(partFailing(provider(byKeys, ["serving", "serving"]))).toBe(
    "1 of 1 models failing with some keys",
  );
});
