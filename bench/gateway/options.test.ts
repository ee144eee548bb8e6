import { expect, test } from "bun:test";
import { fromCommandLine } from "./options.ts";

test("a full run has thousands of accounts and keys, a quick one some", () => {
  expect(fromCommandLine([])).toMatchObject({ accounts: 5_000, keys: 10_000, slowSync: false });
  expect(fromCommandLine(["--quick"])).toMatchObject({ accounts: 50, keys: 100, parts: false });
});

test("what is named counts, also in a quick run", () => {
  const options = fromCommandLine(["--quick", "--keys", "20000", "--slow-sync", "--parts"]);
  expect(options).toMatchObject({ keys: 20_000, slowSync: true, parts: true });
});

test("what makes no sense is refused with a sentence", () => {
  expect(() => fromCommandLine(["--keys", "20001"])).toThrow("--keys is a number from 1 to 20000");
  expect(() => fromCommandLine(["--accounts", "0"])).toThrow("--accounts is a number from 1");
  expect(() => fromCommandLine(["--only", "free"])).toThrow("--only is bare or gateway");
  expect(() => fromCommandLine(["--only", "bare", "--slow-sync"])).toThrow(
    "--only bare leaves out",
  );
});
