import { type BodyGroup, bodyCase } from "./body-cases.ts";
import { Dice } from "./dice.ts";
import { framingCase } from "./framing-cases.ts";
import type { FuzzCase } from "./fuzz-case.ts";
import { headerCase, keyCase, routeCase, storedCase } from "./http-cases.ts";
import { uploadCase } from "./upload-cases.ts";

type Maker = (dice: Dice, key: string) => FuzzCase;
const body =
  (group: BodyGroup): Maker =>
  (dice, key) =>
    bodyCase(dice, key, group);

/** Of 2,600 cases, how many are of each kind. */
const makers: readonly (readonly [weight: number, make: Maker])[] = [
  [460, body("valid")],
  [340, body("broken JSON")],
  [60, body("nesting")],
  [200, body("numbers")],
  [180, body("unicode")],
  [150, body("keys")],
  [460, body("types")],
  [200, body("boundaries")],
  [105, body("noise")],
  [1, body("large")],
  [60, keyCase],
  [80, headerCase],
  [80, routeCase],
  [80, framingCase],
  [24, storedCase],
  [120, uploadCase],
];

/** The same seed and number make the same case, whatever ran before it. */
export function makeCase(seed: number, caseNumber: number, key: string): FuzzCase {
  const dice = new Dice(seed, caseNumber);
  return dice.weighted(makers)(dice, key);
}
