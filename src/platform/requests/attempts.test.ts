import { expect, test } from "bun:test";
import { toAttemptsText } from "./attempts.ts";

test("the line of all attempts is what exports have always had", () => {
  expect(toAttemptsText([])).toBe("");
  expect(toAttemptsText([{ provider: "acme", model: "vendor/m", startedMs: 1 }])).toBe(
    "acme/vendor/m",
  );
  expect(
    toAttemptsText([
      { provider: "acme", model: "m", code: "upstream_timeout" },
      { provider: "other", model: "m", code: "upstream_error", status: 503, detail: "a, b (c)" },
      { provider: "third", model: "m" },
    ]),
  ).toBe("acme/m upstream_timeout, other/m upstream_error (a; b (c)), third/m");
  expect(toAttemptsText([{ provider: "", model: "", code: "upstream_error", detail: "out" }])).toBe(
    "none: upstream_error (out)",
  );
});
