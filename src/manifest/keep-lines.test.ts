import { expect, test } from "bun:test";
import { keepLines } from "./keep-lines.ts";

const lines = (count: number) => Array.from({ length: count }, (_, at) => `k${at}: v`);
const toText = (list: readonly string[]) => `${list.join("\n")}\n`;

test("changes at both ends leave the lines between them as the operator wrote them", () => {
  const between = lines(1500);
  const text = toText(["a:   x", ...between.map((line) => `${line}   # own`), "z:   x"]);
  const before = toText(["a: x", ...between, "z: x"]);
  const after = toText(["a: y", ...between, "z: y"]);
  expect(keepLines({ text, before, after })).toBe(
    text.replace("a:   x", "a: y").replace("z:   x", "z: y"),
  );
});

test("changes so far apart that the comparison would take too much memory are not compared", () => {
  const between = lines(2500);
  const before = toText(["a: x", ...between, "z: x"]);
  const after = toText(["a: y", ...between, "z: y"]);
  expect(keepLines({ text: before, before, after })).toBeUndefined();
});

test("blank lines that are not written anew stay, and those that are put in do not", () => {
  const kept = keepLines({
    text: "\n\na: x\n\n  # b\nc: x\n# end\n",
    before: "a: x\n  # b\nc: x\n\n# end\n",
    after: "a: x\n  # b\nc: x\nd: x\n\n# end\n",
  });
  expect(kept).toBe("\n\na: x\n\n  # b\nc: x\nd: x\n# end\n");
});

test("a text of other lines than those written anew is not taken for them", () => {
  expect(keepLines({ text: "a: x\n", before: "a: x\nb: x\n", after: "a: x\n" })).toBeUndefined();
});
