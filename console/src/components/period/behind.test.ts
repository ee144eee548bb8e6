import { expect, test } from "bun:test";
import { behindWords } from "./behind.ts";

test("sums that are more than a few seconds behind name the time that they reach", () => {
  const asOf = "2027-03-15T14:20:31.000Z";
  const nowMs = Date.parse(asOf) + 51_000;
  expect(behindWords({ is_complete: false, as_of: asOf }, nowMs)).toMatch(
    /^As of .*20:31.*\. Later calls are not counted yet\.$/,
  );
  expect(behindWords({ is_complete: false, as_of: asOf }, nowMs - 50_000)).toBeUndefined();
  expect(behindWords({ is_complete: true, as_of: asOf }, nowMs)).toBeUndefined();
});
