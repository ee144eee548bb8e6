import { expect, test } from "bun:test";
import { sumUsd } from "./money.ts";

test("amounts are added without losing a digit", () => {
  expect(sumUsd([])).toBe("0.00");
  expect(sumUsd(["0.1", "0.2"])).toBe("0.30");
  expect(sumUsd(["999999999.999999999", "0.000000001"])).toBe("1000000000.00");
  expect(sumUsd(["5", "-7.25"])).toBe("-2.25");
  expect(sumUsd(["-0.000000001"])).toBe("-0.000000001");
});
