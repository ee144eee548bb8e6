import { Problem } from "../../base/problem.ts";
import { readMarkup } from "../../platform/prices/import.ts";
import type { Proposal } from "../../platform/providers/proposal.ts";
import { type Asker, readChoice } from "../terminal/ask.ts";
import { style } from "../terminal/output.ts";
import type { Found } from "./discover.ts";
import type { Offer } from "./offer.ts";
import type { Connection } from "./plan.ts";
import { type Print, showFound, showProposals } from "./show.ts";

export interface Dialogue {
  readonly asker: Asker;
  readonly print: Print;
}

/** Which of those that were found are to be connected. */
export async function askWhich(
  found: readonly Found[],
  { asker, print }: Dialogue,
): Promise<readonly Found[]> {
  print(`${style.bold("Found")}\n`);
  showFound(found, print);
  print();
  const usual = found.flatMap((one, at) =>
    one.isShared || one.problem !== undefined ? [] : [String(at + 1)],
  );
  const names = found.map(({ name }) => name);
  return asker.ask({
    question: "Connect which? (numbers, names, all, none)",
    offered: usual.length === found.length ? "all" : usual.length === 0 ? "none" : usual.join(","),
    read(answer) {
      const chosen = readChoice(answer, names).flatMap((at) => found[at] ?? []);
      const bad = chosen.find(({ problem }) => problem !== undefined);
      if (bad !== undefined)
        throw new Problem({
          code: "invalid",
          message: `${bad.name} cannot be connected: ${bad.problem}.`,
        });
      return chosen;
    },
  });
}

const fewModels = 12;

/** Which of its models are to be served; undefined: it is left out. */
export async function askModels(
  { found, proposals, problem }: Offer,
  { asker, print }: Dialogue,
): Promise<Connection | undefined> {
  print();
  if (problem !== undefined) {
    print(`${style.yellow("!")} ${problem}`);
    const isWanted = await asker.confirm("Connect it all the same, without models?", false);
    return isWanted ? { found, models: [] } : undefined;
  }
  if (proposals.length === 0) {
    print(`${style.bold(found.title)} offers no model that is not here already.`);
    return { found, models: [] };
  }
  print(`${style.bold(found.title)} offers ${count(proposals.length, "model")}\n`);
  showProposals(proposals, { most: fewModels, print });
  print();
  return { found, models: await askProposals(proposals, { asker, print }) };
}

async function askProposals(
  proposals: readonly Proposal[],
  { asker, print }: Dialogue,
): Promise<readonly Proposal[]> {
  const priced = proposals.filter(({ price }) => price !== null);
  const hasUnpriced = priced.length < proposals.length;
  const words = [
    ...(hasUnpriced ? ["priced"] : []),
    ...(proposals.length > fewModels ? ["list"] : []),
  ];
  for (;;) {
    const chosen = await asker.ask({
      question: `Take which? (${["numbers", "names", "all", "none", ...words].join(", ")})`,
      offered: hasUnpriced ? "priced" : "all",
      read: (answer) => {
        if (answer === "list") return "list";
        if (answer === "priced") return priced;
        const names = proposals.map(({ id }) => id);
        return readChoice(answer, names).flatMap((at) => proposals[at] ?? []);
      },
    });
    if (chosen !== "list") return chosen;
    showProposals(proposals, { most: proposals.length, print });
  }
}

/** The factor on the vendors' prices. */
export function askMarkup({ asker }: Dialogue): Promise<bigint> {
  return asker.ask({
    question: "Percent on top of the vendors' prices?",
    offered: "0",
    read: (answer) => readMarkup(answer.replace(/\s*%$/, "")),
  });
}

export const count = (number: number, what: string) =>
  `${number} ${what}${number === 1 ? "" : "s"}`;
