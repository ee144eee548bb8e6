import { describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../call/chat.ts";
import { ToolPieces, toWholeCalls } from "./tool-pieces.ts";

interface ToolPiece {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

/** What a client makes of the pieces: it joins everything by index. */
function joined(batches: readonly (readonly Json[])[]): readonly string[] {
  const tools = new ToolPieces("made-up-");
  const calls: Record<number, { id: string; type: string; name: string; arguments: string }> = {};
  for (const batch of batches)
    for (const piece of tools.take(batch)) {
      const { index, id = "", type = "", function: called } = piece as unknown as ToolPiece;
      const call = (calls[index] ??= { id: "", type: "", name: "", arguments: "" });
      call.id += id;
      call.type += type;
      call.name += called.name ?? "";
      call.arguments += called.arguments ?? "";
    }
  return Object.entries(calls).map(
    ([index, { id, type, name, arguments: text }]) => `${index} ${id} ${type} ${name}(${text})`,
  );
}

const piece = ({ name, text, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  ...(rest["id"] === undefined ? {} : { type: "function" }),
  function: {
    ...(name === undefined ? {} : { name }),
    ...(text === undefined ? {} : { arguments: text }),
  },
});

const two = ["0 a function f({1})", "1 b function g({2})"];

describe("two calls are two calls", () => {
  const ways: Readonly<Record<string, readonly (readonly Json[])[]>> = {
    "told as they should be": [
      [piece({ index: 0, id: "a", name: "f", text: "" })],
      [piece({ index: 0, text: "{1" }), piece({ index: 0, text: "}" })],
      [piece({ index: 1, id: "b", name: "g", text: "{" })],
      [piece({ index: 1, text: "2}" })],
    ],
    "told in turns": [
      [piece({ index: 0, id: "a", name: "f", text: "{" }), piece({ index: 1, id: "b", name: "g" })],
      [piece({ index: 1, text: "{2}" }), piece({ index: 0, text: "1}" })],
    ],
    "with id and name in every piece": [
      [piece({ index: 0, id: "a", name: "f", text: "{" })],
      [piece({ index: 0, id: "a", name: "f", text: "1}" })],
      [piece({ index: 1, id: "b", name: "g", text: "{2}" })],
      [piece({ index: 1, id: "b", name: "g", text: "" })],
    ],
    "with empty or null ids and names in later pieces": [
      [piece({ index: 0, id: "a", name: "f", text: "{" })],
      [
        piece({ index: 0, id: "", name: "", text: "1" }),
        piece({ index: 0, id: null, name: null, text: "}" }),
      ],
      [piece({ index: 1, id: "b", name: "g", text: "{2}" })],
    ],
    "both numbered 0": [
      [piece({ index: 0, id: "a", name: "f", text: "{1}" })],
      [piece({ index: 0, id: "b", name: "g", text: "{2" })],
      [piece({ index: 0, text: "}" })],
    ],
    "without numbers": [
      [piece({ id: "a", name: "f", text: "{" })],
      [piece({ text: "1}" })],
      [piece({ id: "b", name: "g", text: "{2}" })],
    ],
    "without numbers, in one packet": [
      [piece({ id: "a", name: "f", text: "{1}" }), piece({ id: "b", name: "g", text: "{2}" })],
    ],
    "numbered from 1": [
      [piece({ index: 1, id: "a", name: "f", text: "{1}" })],
      [piece({ index: 2, id: "b", name: "g", text: "{2}" })],
    ],
    "with an id that changes from piece to piece": [
      [piece({ index: 0, id: "a", name: "f", text: "{" })],
      [piece({ index: 0, id: "x", text: "1}" })],
      [
        piece({ index: 1, id: "b", name: "g", text: "{2}" }),
        piece({ index: 1, id: "y", text: "" }),
      ],
    ],
    "with a name that comes late": [
      [piece({ index: 0, id: "a" })],
      [piece({ index: 0, name: "f", text: "{1}" })],
      [piece({ index: 1, id: "b" }), piece({ index: 1, name: "g", text: "{2}" })],
    ],
    "both numbered 0, without ids": [
      [piece({ index: 0, name: "f", text: "{1}" })],
      [piece({ index: 0, name: "g", text: "{2" }), piece({ index: 0, text: "}" })],
    ],
    "both numbered 0, with one id for both": [
      [piece({ index: 0, id: "same", name: "f", text: "{1}" })],
      [piece({ index: 0, id: "same", name: "g", text: "{2}" })],
    ],
    "with what is no piece between them": [
      [null, 7, "x", [], piece({ index: 0, id: "a", name: "f", text: "{1}" })],
      [piece({ index: 1, id: "b", name: "g", text: "{2}" })],
    ],
  };
  const withoutIds = (calls: readonly string[]) => calls.map((call) => call.replace(/ \S+ /, " "));
  for (const [name, batches] of Object.entries(ways))
    test(name, () => {
      const calls = joined(batches);
      if (!/without ids|one id/.test(name)) return expect(calls).toEqual(two);
      expect(withoutIds(calls)).toEqual(withoutIds(two));
      expect(new Set(calls.map((call) => call.split(" ")[1])).size).toBe(2);
    });
});

describe("one function called twice is two calls", () => {
  const oslo = '{"city":"Oslo"}';
  const rome = '{"city":"Rome"}';
  for (const place of [{}, { index: 0 }])
    test(`when it is numbered ${JSON.stringify(place)} and has no ids`, () => {
      const calls = joined([
        [piece({ ...place, name: "f", text: '{"city":' }), piece({ ...place, text: '"Oslo"}' })],
        [piece({ ...place, name: "f", text: "" })],
        [piece({ ...place, name: "f", text: rome })],
      ]);
      expect(calls.map((call) => call.replace(/^\S+ \S+ /, ""))).toEqual([
        `function f(${oslo})`,
        `function f(${rome})`,
      ]);
    });

  test("and one when its name is told again with every piece of its arguments", () => {
    for (const place of [{}, { index: 0 }]) {
      const calls = joined([
        [piece({ ...place, name: "f", text: '{"city":{}' })],
        [
          piece({ ...place, name: "f", text: ', "x":1' }),
          piece({ ...place, name: "f", text: "}" }),
        ],
      ]);
      expect(calls).toEqual(['0 made-up-0 function f({"city":{}, "x":1})']);
    }
  });
});

test("no two calls share an id, whatever the upstream gives them", () => {
  const calls = joined([
    [piece({ index: 0, id: "x", name: "f" }), piece({ index: 1, id: "x", name: "g" })],
    [piece({ index: 2, id: "made-up-3", name: "h" }), piece({ index: 3, name: "i" })],
  ]);
  expect(calls.map((call) => call.split(" ")[1])).toEqual([
    "x",
    "made-up-1",
    "made-up-3",
    "made-up-3_",
  ]);
  expect(toWholeCalls([{ id: "x" }, { id: "x" }], "made-up-").map(({ id }) => id)).toEqual([
    "x",
    "made-up-1",
  ]);
});

test("an upstream that calls without end is stopped, and 1,000 calls take no time", () => {
  const tools = new ToolPieces("c");
  const many = Array.from({ length: 1_000 }, (_, index) =>
    piece({ index, id: `i${index}`, name: "f" }),
  );
  expect(tools.take(many)).toHaveLength(1_000);
  expect(tools.take(many)).toHaveLength(1_000);
  expect(() => tools.take([piece({ index: 1_000, id: "more", name: "f" })])).toThrow("ended early");
  const nameless = new ToolPieces("c");
  const long = piece({ index: 0, id: "a", text: "x".repeat(1024 * 1024) });
  expect(() => nameless.take([long, long, long, long, long])).toThrow("ended early");
});

test("a call that is given no id gets one, and only in its first piece", () => {
  expect(
    joined([
      [piece({ index: 0, name: "f", text: "{" })],
      [piece({ index: 0, text: "1}" })],
      [piece({ name: "g", text: "{2}" })],
    ]),
  ).toEqual(["0 made-up-0 function f({1})", "1 made-up-1 function g({2})"]);
});

test("arguments that come as an object go out as text", () => {
  expect(joined([[piece({ index: 0, id: "a", name: "f", text: { x: 1 } })]])).toEqual([
    '0 a function f({"x":1})',
  ]);
});

test("the calls of a whole reply have id, type, name and arguments as text", () => {
  const calls = [
    { id: "a", type: "function", function: { name: "f", arguments: "{1}" }, extra: true },
    { index: 1, function: { name: "g", arguments: { x: 1 } } },
    "nothing",
  ];
  expect(toWholeCalls(calls, "made-up-")).toEqual([
    { id: "a", type: "function", function: { name: "f", arguments: "{1}" }, extra: true },
    { index: 1, id: "made-up-1", type: "function", function: { name: "g", arguments: '{"x":1}' } },
  ]);
});
