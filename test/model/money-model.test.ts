import { expect, test } from "bun:test";
import { runModel } from "./run-model.ts";

const seeds = 60;
const steps = 150;
/** A generator that hardly ever gets somewhere would show nothing. */
const leastOfEach = 15;

test("whatever happens in whatever order, the ledger holds what a plain addition of it says", async () => {
  const total = { admitted: 0, refused: 0, lowered: 0, short: 0, takenBack: 0, crashes: 0 };
  for (let seed = 1; seed <= seeds; seed++) {
    const counts = await runModel({ seed, steps });
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
  }
  for (const [name, count] of Object.entries(total))
    expect({ name, isOften: count >= leastOfEach }).toEqual({ name, isOften: true });
}, 120_000);
