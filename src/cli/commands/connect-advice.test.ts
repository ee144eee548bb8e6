import { expect, test } from "bun:test";
import { Problem } from "../../base/problem.ts";
import { byFlags, newTrouble } from "./connect-advice.ts";

test("what is wrong is told once, as it was found, with what to do", () => {
  const what = "The name in https://up.example is not known.";
  const advice = "Is this machine online, and can it look up names?";
  expect(newTrouble({ trouble: "wrong_address", what, advice })).toBe(`${what} ${advice}`);
  expect(newTrouble({ trouble: "failed", what, advice: "" })).toBe(what);
});

test("a field of a new provider is told by its flag, any other line as it is", () => {
  const lines = [
    "f.yaml: line 3: providers.mine.base_url is a private address: add allow_private: true",
    "f.yaml: line 4: providers.mine.region is missing",
    "f.yaml: line 9: providers.other.base_url must be a URL",
  ];
  expect(
    byFlags(new Problem({ code: "invalid", message: lines.join("\n") }), "mine"),
  ).toMatchObject({
    code: "invalid",
    message: [
      "--base-url is a private address: add --allow-private",
      "--option region is missing",
      lines[2],
    ].join("\n"),
  });
  const conflict = new Problem({ code: "conflict", message: lines.join("\n") });
  expect(byFlags(conflict, "mine")).toBe(conflict);
});
