import type { People } from "../people.ts";
import { OwnFactors } from "./own-factors.ts";
import { Prover } from "./prover.ts";
import { SecondStep } from "./second-step.ts";
import { type Sealing, Tickets } from "./tickets.ts";

/** What people prove besides the password: at sign-in, and for themselves. */
export interface Factors {
  readonly own: OwnFactors;
  readonly secondStep: SecondStep;
}

export function createFactors(people: People, sealing: Sealing): Factors {
  const tickets = new Tickets(sealing);
  const prover = new Prover(people, sealing);
  return {
    own: new OwnFactors({ people, sealing, tickets, prover }),
    secondStep: new SecondStep(people, tickets, prover),
  };
}
