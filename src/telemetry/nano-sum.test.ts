import { expect, test } from "bun:test";
import { NanoSum } from "./nano-sum.ts";

test("a sum is exact, of the smallest amounts and of those that a number cannot hold", () => {
  const amounts = [1n, 2n ** 52n - 1n, 2n ** 52n - 3n, 3n, 2n ** 60n + 1n, 7n];
  const sum = new NanoSum();
  let exact = 0n;
  for (let round = 0; round < 100; round++)
    for (const amount of amounts) {
      sum.add(amount);
      exact += amount;
      expect(sum.nano).toBe(exact);
    }
});
