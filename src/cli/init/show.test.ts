import { expect, spyOn, test } from "bun:test";
import { tellFound } from "./show.ts";

test("finding nothing is a problem, with --json too", () => {
  const write = spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    for (const isJson of [false, true])
      expect(() => tellFound({ found: [], isJson, preset: undefined })).toThrow(
        expect.objectContaining({ code: "not_found", command: "provider add --help" }),
      );
    expect(write.mock.calls.map(([text]) => JSON.parse(String(text)))).toEqual([
      { written: false, found: [] },
    ]);
  } finally {
    write.mockRestore();
  }
});
