import { expect, test } from "bun:test";
import budget from "../../test/budget.json" with { type: "json" };
import { checkBudget } from "./budget.ts";
import { tiers } from "./tiers.ts";

const figure = budget.cpu_seconds.test;
const then = budget.reference_seconds;

test("a tier may take 10% more than its figure, on a machine of any speed", () => {
  const isKept = (cpuSeconds: number, referenceSeconds: number) =>
    checkBudget("test", { cpuSeconds, referenceSeconds }).isKept;
  expect(isKept(figure * 1.09, then)).toBe(true);
  expect(isKept(figure * 1.11, then)).toBe(process.platform !== "linux");
  expect(isKept(figure * 2, then * 2)).toBe(true);
  expect(isKept(figure * 0.6, then / 2)).toBe(process.platform !== "linux");
});

test("every tier that CI runs has a figure", () => {
  const withFigure = Object.keys(budget.cpu_seconds);
  expect(withFigure.toSorted()).toEqual(
    ["test", "postgres", "processes", "engine", "browser", "install", "clients"].toSorted(),
  );
  expect(withFigure.filter((name) => !Object.hasOwn(tiers, name))).toEqual([]);
});
