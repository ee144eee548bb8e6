import { readMarkup } from "../../platform/prices/import.ts";
import { print, style } from "../terminal/output.ts";
import { askMany, askText, askYes } from "../terminal/prompts.ts";
import type { Found } from "./discover.ts";
import { type Offer, toChoice } from "./offer.ts";
import type { Connection } from "./plan.ts";

/** Which of those that were found are to be connected. */
export function askWhich(found: readonly Found[], signal: AbortSignal): Promise<readonly Found[]> {
  return askMany({
    question: "Which providers do you want to connect?",
    choices: found.map((one) => {
      const { name, title, by, isShared, problem, notes } = one;
      const hints = [
        by,
        ...(isShared ? ["other tools use this variable too"] : []),
        ...(problem === undefined ? [] : [problem]),
        ...notes,
      ];
      return {
        value: one,
        label: `${name}  ${title}`,
        hint: hints.join("; "),
        isDisabled: problem !== undefined,
      };
    }),
    chosen: found.filter(({ isShared, problem }) => !isShared && problem === undefined),
    signal,
  });
}

/** Which of its models are to be served; undefined: it is left out. */
export async function askModels(
  { found, proposals, problem }: Offer,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  if (problem !== undefined) {
    print(`${style.yellow("!")} ${problem}`);
    const question = "Connect it anyway, without models?";
    const isWanted = await askYes({ question, offered: false, signal });
    return isWanted ? { found, models: [] } : undefined;
  }
  if (proposals.length === 0) {
    print(`${style.bold(found.title)} offers no new models.`);
    return { found, models: [] };
  }
  const models = await askMany({
    question: `${found.title} offers ${count(proposals.length, "model")}. Which ones do you want to serve?`,
    choices: proposals.map(toChoice),
    chosen: proposals.filter(({ price }) => price !== null),
    signal,
  });
  return { found, models };
}

/** The factor on the vendors' prices. */
export const askMarkup = (signal: AbortSignal): Promise<bigint> =>
  askText({
    question: "Markup on the vendors' prices, in percent",
    offered: "0",
    read: (answer) => readMarkup(answer.replace(/\s*%$/, "")),
    signal,
  });

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
