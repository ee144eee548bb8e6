import { expect, test } from "bun:test";
import { type Verdict, verdictOf } from "./verdict.ts";

const endMark = '"type":"response.completed"';
const event = (data: string) => `event: x\ndata: ${data}\n\n`;
const delta = event('{"type":"response.output_text.delta","delta":"Hi"}');
const end = event('{"type":"response.completed","response":{"error":null}}');
const error = event('{"type":"error","code":"upstream_error"}');
const failed = event('{"type":"response.failed","response":{"error":{"code":"x"}}}');

const streams: readonly (readonly [string, string, Verdict])[] = [
  ["an end", delta + end, "good"],
  ["an error", delta + error + failed, "failed"],
  ["nothing", delta, "cut"],
  ["half an error", (delta + error).trimEnd(), "cut"],
  ["an end and then an error", delta + end + error + failed, "error and end"],
  ["an error and then an end", delta + error + end, "error and end"],
  ["two ends", delta + end + end, "more after its end"],
  ["words after its end", delta + end + delta, "more after its end"],
];

for (const [name, text, verdict] of streams)
  test(`a stream with ${name} is judged "${verdict}"`, () => {
    expect(verdictOf(text, endMark)).toBe(verdict);
  });

test("the end of a chat is known by its mark", () => {
  const chunk = 'data: {"choices":[]}\n\n';
  expect(verdictOf(`${chunk}data: [DONE]\n\n`, "data: [DONE]\n\n")).toBe("good");
  expect(verdictOf(`${chunk}data: [DONE]\n\n${chunk}`, "data: [DONE]\n\n")).not.toBe("good");
});
