/**
 * The one contract of all dialects: whichever a caller speaks, and whatever the upstream does, the
 * same question gives the same answer at the same price. All cases run on the scenes of the dialect.
 * Its other vendors, which test/providers holds to the same answers, have those that could go wrong
 * between the two: the receipt, several calls, results of tools, signed thoughts.
 */

import { describe, expect, test } from "bun:test";
import { openPayer } from "../setup/money-home.ts";
import { failureCases } from "./cases/failures.ts";
import { questionCases } from "./cases/questions.ts";
import { signatureCases } from "./cases/signatures.ts";
import { answerCases } from "./cases/words.ts";
import type { Driver } from "./driver.ts";
import { plainQuestion, post, refusalOf, Stage } from "./stage.ts";
import { isScene, pairsOf, vendors } from "./vendors.ts";

export function dialectContract(driver: Driver): void {
  const stage = new Stage();
  const pairs = pairsOf(driver);
  for (const pair of pairs)
    describe(`${driver.name} on ${pair.vendor.name}${pair.isNative ? ", natively," : ""}`, () => {
      questionCases(stage, pair);
      answerCases(stage, pair);
      signatureCases(stage, pair);
      if (isScene(pair)) failureCases(stage, pair);
    });

  for (const { name, wires } of vendors)
    if (wires[driver.name] === undefined)
      test(`${driver.name} on ${name} is refused with the name of the model`, async () => {
        const payer = await openPayer(stage.gateway);
        const body = driver.toBody({ ...plainQuestion, model: name });
        const refusal = await refusalOf(
          driver,
          await post({ stage, driver, key: payer.key, body }),
        );
        expect(refusal).toMatchObject({ status: 400, param: "model" });
        expect(await payer.receipts()).toEqual([]);
      });
}
