import { describe, expect, test } from "bun:test";
import { modelState, modelStates, stateRank, targetState, worstState } from "./state.ts";

const active = { lifecycle: "active", isPriced: true } as const;

describe("the state of a model", () => {
  test("is that of its best target", () => {
    expect(modelState({ ...active, targets: ["failing", "serving"] })).toBe("serving");
    expect(modelState({ ...active, targets: ["failing", "untested"] })).toBe("untested");
    expect(modelState({ ...active, targets: ["failing", "paused"] })).toBe("failing");
    expect(modelState({ ...active, targets: ["paused"] })).toBe("paused");
  });

  test("names what it lacks first", () => {
    expect(modelState({ ...active, targets: [] })).toBe("no_route");
    expect(modelState({ ...active, isPriced: false, targets: ["serving"] })).toBe("needs_price");
  });

  test("is none once it is retired, whatever it lacks", () => {
    expect(modelState({ lifecycle: "retired", isPriced: false, targets: [] })).toBeNull();
  });

  test("sorts the worst first and retired models last", () => {
    const ranks = [...modelStates, null].map(stateRank);
    expect(ranks).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});

const fine = { isPaused: false, isOut: false, lastOk: true };

test("only what is known to work is serving", () => {
  expect(targetState(fine)).toBe("serving");
  expect(targetState({ ...fine, lastOk: undefined })).toBe("untested");
  expect(targetState({ ...fine, lastOk: false })).toBe("failing");
  expect(targetState({ ...fine, isOut: true })).toBe("failing");
});

test("what the operator paused is paused, whatever else is known", () => {
  expect(targetState({ isPaused: true, isOut: true, lastOk: false })).toBe("paused");
});

test("several together are as the worst of them", () => {
  expect(worstState(["serving", "paused", "untested", "failing"])).toBe("failing");
  expect(worstState(["serving", "paused", "untested"])).toBe("untested");
  expect(worstState(["serving", "paused"])).toBe("paused");
  expect(worstState([])).toBeUndefined();
});
