import { expect, test } from "bun:test";
import { moneyEdits, watchEdits } from "./gateway-edits.ts";
import { editedText, type SourceEdit } from "./source-edits.ts";

const transpiler = new Bun.Transpiler({ loader: "ts" });

for (const [name, edits] of Object.entries({ moneyEdits, watchEdits })) {
  for (const path of new Set(edits.map((edit) => edit.path))) {
    test(`the ${name} of ${path} fit the source as it is, and leave a module`, () => {
      const text = editedText(path, edits);
      for (const { find, replace } of edits.filter((edit) => edit.path === path)) {
        if (replace !== "") expect(text).toContain(replace);
        if (!replace.includes(find)) expect(text).not.toContain(find);
      }
      expect(() => transpiler.scan(text)).not.toThrow();
    });
  }
}

test("an edit that fits nowhere, or in two places, is refused", () => {
  const path = "bench/load/samples.ts";
  const edit = (find: string): readonly SourceEdit[] => [{ path, find, replace: "" }];
  expect(() => editedText(path, edit("no such words"))).toThrow("0 times, not once");
  expect(() => editedText(path, edit("readonly p"))).toThrow("2 times, not once");
});

test("edits of other files are left out", () => {
  const edits = [{ path: "src/main.ts", find: "nothing of this file", replace: "" }];
  expect(editedText("bench/load/samples.ts", edits)).toContain("class Samples");
});
