import { test } from "bun:test";
import { expectModel } from "../model/expect-model.ts";

test("whatever happens in whatever order, the ledger holds what a plain addition of it says", async () => {
  await expectModel(7, 100);
});
