import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../base/errors.ts";
import type { Json } from "../../../call/chat.ts";
import { readMediaInput as readMediaField, readTextInput as readTextField } from "./input.ts";

const readTextInput = (input: Json) => readTextField({ input });
const readMediaInput = (input: Json) => readMediaField({ input });

const paramOf = (read: () => unknown): string | null => {
  try {
    read();
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return error.param;
    throw error;
  }
  return "nothing was refused";
};

describe("readTextInput", () => {
  test("makes every form one of two: texts or lists of token ids", () => {
    expect(readTextInput("a")).toEqual({ kind: "texts", texts: ["a"] });
    expect(readTextInput(["a", "b"])).toEqual({ kind: "texts", texts: ["a", "b"] });
    expect(readTextInput([1, 2])).toEqual({ kind: "tokens", tokens: [[1, 2]] });
    expect(readTextInput([[1, 2], [3]])).toEqual({ kind: "tokens", tokens: [[1, 2], [3]] });
  });

  test("counts entries, not tokens: one list of 101 ids is one entry", () => {
    const ids = Array.from({ length: 101 }, (_, at) => at);
    expect(readTextInput(ids)).toEqual({ kind: "tokens", tokens: [ids] });
    expect(paramOf(() => readTextInput(ids.map(() => "a")))).toBe("input");
    expect(paramOf(() => readTextInput(ids.map(() => [1])))).toBe("input");
    expect(readTextInput(ids.slice(1).map(() => "a"))).toMatchObject({ kind: "texts" });
  });

  test("keeps white space and any script: only the empty string is no text", () => {
    for (const text of [" ", "\n", "\u0000", "你好", "👩‍👩‍👧"])
      expect(readTextInput(text)).toEqual({ kind: "texts", texts: [text] });
    expect(paramOf(() => readTextInput(""))).toBe("input");
  });

  test("names the first entry that differs from the first", () => {
    const wrong: readonly (readonly [Json, string])[] = [
      [["a", 1, ""], "input[1]"],
      [["a", "b", {}], "input[2]"],
      [[1, 2, "a"], "input[2]"],
      [[1, Number.POSITIVE_INFINITY], "input[1]"],
      [[[1], [2, -3]], "input[1][1]"],
      [[true], "input[0]"],
      [{}, "input"],
      [false, "input"],
    ];
    for (const [input, param] of wrong) expect(paramOf(() => readTextInput(input))).toBe(param);
  });
});

describe("readMediaInput", () => {
  const video = { video: { bytesBase64Encoded: "AAAA" } };

  test("tells images from a video by their form alone", () => {
    expect(readMediaInput("data:x")).toEqual({
      kind: "images",
      dataUris: ["data:x"],
      isList: false,
    });
    expect(readMediaInput(["a", "b"])).toEqual({
      kind: "images",
      dataUris: ["a", "b"],
      isList: true,
    });
    expect(readMediaInput(video)).toMatchObject({
      kind: "video",
      base64: "AAAA",
      param: "input.video.bytesBase64Encoded",
    });
    expect(readMediaInput([video])).toMatchObject({
      kind: "video",
      param: "input[0].video.bytesBase64Encoded",
    });
  });

  test("takes 8 images and no more", () => {
    expect(readMediaInput(Array(8).fill("a"))).toMatchObject({ kind: "images" });
    expect(paramOf(() => readMediaInput(Array(9).fill("a")))).toBe("input");
  });

  test("a video stands alone", () => {
    for (const input of [
      [video, video],
      [video, "a"],
      ["a", video],
    ])
      expect(paramOf(() => readMediaInput(input))).toBe("input[1]");
  });
});
