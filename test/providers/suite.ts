/**
 * The one contract that every provider keeps, whatever its vendor speaks. Each case says what a
 * vendor answers in neutral words; the dialect makes the vendor's documented bytes of it.
 */

import { describe, expect, test } from "bun:test";
import { answerCases } from "./cases/answers.ts";
import { cutCases, walkCases } from "./cases/cuts.ts";
import { errorCases } from "./cases/errors.ts";
import { leavingCases } from "./cases/leaving.ts";
import { requestCases } from "./cases/requests.ts";
import { transportCases } from "./cases/transport.ts";
import { type Dialect, type ErrorClass, type Wait, waitForms } from "./dialect.ts";
import { providerName, Stage } from "./stage.ts";

export function providerContract(dialect: Dialect): void {
  describe(`${dialect.name} keeps the contract of a provider`, () => {
    const stage = new Stage(dialect);
    coverageCases(stage);
    requestCases(stage);
    answerCases(stage);
    cutCases(stage);
    walkCases(stage);
    leavingCases(stage);
    errorCases(stage);
    transportCases(stage);
  });
}

/**
 * What depends on how bytes arrive, over the client of the runtime. All dialects read what it hands
 * on as they read ours, so one of them is enough.
 */
export function transportContract(dialect: Dialect): void {
  describe(`${dialect.name} keeps the contract over the client of the runtime`, () => {
    const stage = new Stage(dialect, { usesProxy: () => true });
    cutCases(stage);
    leavingCases(stage);
    transportCases(stage);
  });
}

/** For a vendor that differs in its requests alone from one whose dialect keeps the whole contract. */
export function requestContract(dialect: Dialect): void {
  describe(`${dialect.name} keeps the contract of a provider's requests`, () => {
    const stage = new Stage(dialect);
    coverageCases(stage);
    requestCases(stage);
  });
}

/** What every vendor has: a dialect that leaves it out would pass without being tried. */
const everyVendorHas: readonly ErrorClass[] = [
  "badKey",
  "overloaded",
  "modelMissing",
  "badRequest",
  "tooLong",
  "serverError",
];

function coverageCases(stage: Stage): void {
  const { dialect } = stage;
  test("the dialect can say what every vendor says", () => {
    const options = { words: "", streamed: false };
    const wait = (form: Wait["form"]) => ({ form, delayMs: 1_000, date: new Date() });
    const unsaid = everyVendorHas.filter((kind) => dialect.error(kind, options) === undefined);
    expect(unsaid).toEqual([]);
    const limits = waitForms.filter((form) => dialect.rateLimited(wait(form), options));
    expect(limits).not.toEqual([]);
    expect(dialect.fault("failed", "")).toBeDefined();
    expect(dialect.brokenPackets.length).toBeGreaterThanOrEqual(2);
    expect(dialect.usages.length).toBeGreaterThanOrEqual(2);
    expect(dialect.vendorWords).not.toEqual([]);
  });

  test("a provider has the name that the operator gave it", () => {
    expect(stage.provider.name).toBe(providerName);
  });
}
