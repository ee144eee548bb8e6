import { test } from "bun:test";
import { expectModel } from "./expect-model.ts";

// Further seeds: test/chaos/money-model.test.ts.
test("whatever happens in whatever order, the ledger holds what a plain addition of it says", async () => {
  await expectModel(1, 6);
});
