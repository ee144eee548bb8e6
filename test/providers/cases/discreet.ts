/** What is the operator's own, or the caller's, and must not be told to others. */

import { expect } from "bun:test";
import type { ApiError } from "../../../src/base/errors.ts";
import { callersWords } from "../calls.ts";
import { operatorKey } from "../dialect.ts";
import { providerName, type Stage } from "../stage.ts";

/** Some vendors quote what they were sent, and name themselves. */
export function quoted(stage: Stage): string {
  const { vendorWords } = stage.dialect;
  return `${vendorWords.join(" ")} ${operatorKey} ${callersWords} ${stage.origin}`;
}

/** To the caller no word of who failed; to the operator no key, and no word of the caller. */
export function expectDiscreet(stage: Stage, error: ApiError): void {
  const message = error.message.toLowerCase();
  const hidden = [
    ...stage.dialect.vendorWords,
    providerName,
    operatorKey,
    callersWords,
    new URL(stage.origin).host,
    stage.dialect.model,
  ];
  expect(hidden.filter((word) => message.includes(word.toLowerCase()))).toEqual([]);
  expect(message.length).toBeGreaterThan(10);
  const detail = error.detail ?? "";
  // Of a key, a part would do.
  for (const secret of [operatorKey, operatorKey.slice(4, 20), callersWords])
    expect(detail).not.toContain(secret);
  expect(detail).toContain(providerName);
}
