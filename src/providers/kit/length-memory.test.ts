import { expect, test } from "bun:test";
import type { EmbedCall } from "../../call/embed.ts";
import { upstreamError } from "./failure.ts";
import { LengthMemory } from "./length-memory.ts";

const unnamed: EmbedCall = {
  input: { kind: "texts", texts: ["a"] },
  dimensions: 3072,
  isUsualLength: true,
  encoding: "float",
};

/** A model, and the lengths that it was asked for. */
function stage() {
  const state = { nowMs: 0, takes: (_dimensions: number | undefined) => true };
  const memory = new LengthMemory(() => state.nowMs);
  const asked: (number | undefined)[] = [];
  const ask = async (call = unnamed, model = "m") => {
    asked.length = 0;
    const result = await memory
      .ask({ call, model }, async (dimensions) => {
        asked.push(dimensions);
        if (!state.takes(dimensions))
          throw upstreamError("upstream_rejected", { detail: "no", reason: "refused" });
        return "served";
      })
      .catch(() => "refused");
    return [result, ...asked];
  };
  return { state, ask };
}

const minute = 60_000;

test("a length that is refused is left out from then on", async () => {
  const { state, ask } = stage();
  state.takes = (dimensions) => dimensions === undefined;
  expect(await ask()).toEqual(["served", 3072, undefined]);
  expect(await ask()).toEqual(["served", undefined]);
});

test("a length that the caller named is asked for, whatever is known", async () => {
  const { state, ask } = stage();
  state.takes = (dimensions) => dimensions === undefined;
  await ask();
  expect(await ask({ ...unnamed, isUsualLength: false })).toEqual(["refused", 3072]);
});

test("an input that is refused is not asked for twice while the way is known to serve", async () => {
  const { state, ask } = stage();
  expect(await ask()).toEqual(["served", 3072]);
  state.takes = () => false;
  expect(await ask()).toEqual(["refused", 3072]);
});

test("a model that was changed behind its name serves again within a minute", async () => {
  const { state, ask } = stage();
  expect(await ask()).toEqual(["served", 3072]);
  state.takes = (dimensions) => dimensions === undefined;
  state.nowMs += minute;
  expect(await ask()).toEqual(["served", 3072, undefined]);
  expect(await ask()).toEqual(["served", undefined]);
});

test("whether it takes the length by now is asked again after an hour, however busy it is", async () => {
  const { state, ask } = stage();
  state.takes = (dimensions) => dimensions === undefined;
  await ask();
  state.takes = () => true;
  for (let minutes = 0; minutes < 60; minutes++) {
    state.nowMs += minute - 1;
    expect(await ask()).toEqual(["served", undefined]);
  }
  state.nowMs += 2 * minute;
  expect(await ask()).toEqual(["served", 3072]);
});

test("what is kept of models has a bound", async () => {
  const { state, ask } = stage();
  state.takes = (dimensions) => dimensions === undefined;
  for (let at = 0; at <= 256; at++) await ask(unnamed, `m${at}`);
  expect(await ask(unnamed, "m0")).toEqual(["served", 3072, undefined]);
  expect(await ask(unnamed, "m256")).toEqual(["served", undefined]);
});
