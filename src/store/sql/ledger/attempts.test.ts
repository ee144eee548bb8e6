import { describe, expect, test } from "bun:test";
import { errorKinds } from "../../../base/errors.ts";
import { fromAttemptsText } from "./attempts.ts";

describe("the text of attempts in an old receipt", () => {
  test("tells one, several and none apart", () => {
    expect(fromAttemptsText("")).toEqual([]);
    expect(fromAttemptsText("acme/m-1")).toEqual([{ provider: "acme", model: "m-1" }]);
    expect(
      fromAttemptsText(
        "acme/m-1 upstream_timeout, other/vendor/m upstream_error (503: try (again); later), third/m",
      ),
    ).toEqual([
      { provider: "acme", model: "m-1", code: "upstream_timeout" },
      {
        provider: "other",
        model: "vendor/m",
        code: "upstream_error",
        detail: "503: try (again); later",
      },
      { provider: "third", model: "m" },
    ]);
    expect(fromAttemptsText("none: upstream_unavailable (no route of m leads on)")).toEqual([
      { provider: "", model: "", code: "upstream_unavailable", detail: "no route of m leads on" },
    ]);
  });

  test("is read back as it was written, whatever the names and details", () => {
    const details = [
      undefined,
      "plain",
      "with; semicolons; in/it",
      "upstream_error (inner)",
      "two\nlines",
      "x".repeat(200),
      ")(",
    ];
    const models = ["m", "vendor/m", "a b c", "a, b", "m upstream", "model (beta)"];
    for (const code of Object.keys(errorKinds))
      for (const detail of details)
        for (const model of models) {
          const reason = detail === undefined ? { code } : { code, detail };
          const text = detail === undefined ? code : `${code} (${detail})`;
          expect(
            fromAttemptsText(`one/${model} ${text}, two/${model} ${text}, three/${model}`),
          ).toEqual([
            { provider: "one", model, ...reason },
            { provider: "two", model, ...reason },
            { provider: "three", model },
          ]);
        }
  });
});
