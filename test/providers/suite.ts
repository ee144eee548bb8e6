/**
 * The one contract that every provider keeps, whatever its vendor speaks. Each case says what a
 * vendor answers in neutral words; the dialect makes the vendor's documented bytes of it.
 */

import { describe } from "bun:test";
import { answerCases } from "./answer-cases.ts";
import { cutCases } from "./cut-cases.ts";
import type { Dialect } from "./dialect.ts";
import { errorCases } from "./error-cases.ts";
import { leavingCases } from "./leaving-cases.ts";
import { requestCases } from "./request-cases.ts";
import { Stage } from "./stage.ts";
import { transportCases } from "./transport-cases.ts";

export function providerContract(dialect: Dialect): void {
  describe(`${dialect.name} keeps the contract of a provider`, () => {
    const stage = new Stage(dialect);
    requestCases(stage);
    answerCases(stage);
    cutCases(stage);
    leavingCases(stage);
    errorCases(stage);
    transportCases(stage);
  });
}
