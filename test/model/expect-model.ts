import { expect } from "bun:test";
import { runModel } from "./run-model.ts";

const steps = 150;

/** Runs the seeds from the first to the last, and expects each kind of event to have been frequent. */
export async function expectModel(first: number, last: number): Promise<void> {
  const total = { admitted: 0, refused: 0, lowered: 0, short: 0, takenBack: 0, crashes: 0 };
  for (let seed = first; seed <= last; seed++) {
    const counts = await runModel({ seed, steps });
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
  }
  // A generator that hardly ever gets somewhere would show nothing.
  const leastOfEach = (last - first + 1) / 4;
  for (const [name, count] of Object.entries(total))
    expect({ name, isOften: count >= leastOfEach }).toEqual({ name, isOften: true });
}
