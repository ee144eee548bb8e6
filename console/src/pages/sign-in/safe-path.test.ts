import { expect, test } from "bun:test";
import { safePath } from "./safe-path.ts";

test("after signing in one is where one wanted to be", () => {
  expect(safePath("/a/acc_1/requests?status=failed#top")).toBe(
    "/a/acc_1/requests?status=failed#top",
  );
  expect(safePath(undefined)).toBe("/");
});

test.each([
  "https://evil.example",
  "//evil.example/x",
  "/\\evil.example",
  "/\t/evil.example",
  "javascript:alert(1)",
  "sign-in",
])("a link to %p leads home instead", (then) => {
  expect(safePath(then)).toBe("/");
});
