/** The CPU time that each tier may take. */

import { join } from "node:path";
import budget from "../../test/budget.json" with { type: "json" };
import { root } from "./checkout.ts";
import type { TierName } from "./tiers.ts";

const tolerance = 1.1;

/**
 * CPU seconds of a fixed piece of work, on two cores at once. Machines differ, and one machine
 * differs from hour to hour; a tier's CPU time is compared in terms of this.
 */
export async function measureReference(): Promise<number> {
  const script = join(root, "scripts", "tests", "reference.ts");
  const measure = async () => {
    const child = Bun.spawn([process.execPath, script], { cwd: root, stdout: "pipe" });
    return Number(await new Response(child.stdout).text());
  };
  const [one, other] = await Promise.all([measure(), measure()]);
  return (one + other) / 2;
}

export interface BudgetCheck {
  /** For people; empty where there is nothing to compare. */
  readonly text: string;
  /** The tier stayed within 10% of its figure. */
  readonly isKept: boolean;
}

export function checkBudget(
  tier: TierName,
  measured: { readonly cpuSeconds: number; readonly referenceSeconds: number },
): BudgetCheck {
  const figures: Readonly<Record<string, number>> = budget.cpu_seconds;
  const figure = figures[tier];
  // Elsewhere, the time of child processes is not known.
  if (figure === undefined || process.platform !== "linux") return { text: "", isKept: true };
  const then = budget.reference_seconds;
  const { cpuSeconds, referenceSeconds } = measured;
  const comparable = (cpuSeconds * then) / referenceSeconds;
  const isKept = comparable <= figure * tolerance;
  const took = `The tier "${tier}" took ${comparable.toFixed(0)} CPU seconds (${cpuSeconds.toFixed(0)} s here, where the reference work takes ${referenceSeconds.toFixed(2)} s and not ${then.toFixed(2)} s).`;
  const verdict = isKept
    ? `Its budget is ${figure}.`
    : `That is more than 10% above its budget of ${figure}. Make its tests cheaper, or change the figure in test/budget.json and give the reason in the commit.`;
  return { text: `${took} ${verdict}\n`, isKept };
}
