import { type BodyGroup, bodyCase } from "./body-cases.ts";
import { dialectCase } from "./dialect-cases.ts";
import { Dice } from "./dice.ts";
import { framingCase } from "./framing-cases.ts";
import type { FuzzCase } from "./fuzz-case.ts";
import { headerCase, keyCase, routeCase } from "./http-cases.ts";
import { uploadCase } from "./upload-cases.ts";

type Maker = (dice: Dice, key: string) => FuzzCase;
const body =
  (group: BodyGroup): Maker =>
  (dice, key) =>
    bodyCase(dice, key, group);

/** Of 2,600 cases, how many are of each kind. */
const makers: readonly (readonly [weight: number, make: Maker])[] = [
  [300, body("valid")],
  [300, body("broken JSON")],
  [40, body("nesting")],
  [180, body("numbers")],
  [160, body("unicode")],
  [120, body("keys")],
  [360, body("types")],
  [140, body("boundaries")],
  [99, body("noise")],
  [1, body("large")],
  [60, keyCase],
  [80, headerCase],
  [80, routeCase],
  [80, framingCase],
  [480, dialectCase],
  [120, uploadCase],
];

/** The same seed and number make the same case, whatever ran before it. */
export function makeCase(seed: number, caseNumber: number, key: string): FuzzCase {
  const dice = new Dice(seed, caseNumber);
  return dice.weighted(makers)(dice, key);
}
