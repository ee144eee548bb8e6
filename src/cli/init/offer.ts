import { Problem } from "../../base/problem.ts";
import { billedClasses } from "../../call/endpoint.ts";
import { addToManifest } from "../../manifest/edit.ts";
import type { Operations } from "../../platform/operations.ts";
import { type Proposal, takenIds } from "../../platform/providers/proposal.ts";
import { newTrouble } from "../commands/connect-advice.ts";
import type { Found } from "./discover.ts";
import { isNamed, listedNames, notOffered, proposeNamed } from "./named-models.ts";
import { type Connection, type Present, readPresent } from "./plan.ts";

/** What a provider said when it was asked for its models. */
export interface Offer {
  readonly found: Found;
  readonly proposals: readonly Proposal[];
  /** Why it could not be asked, and what to do. */
  readonly problem: string | undefined;
  /** All that it lists; undefined: it does not tell. */
  readonly listed: readonly string[] | undefined;
}

/** Asks all at once, as the gateway would. `text` is the file that they would be added to. */
export async function readOffers(options: {
  readonly operations: Operations;
  readonly chosen: readonly Found[];
  readonly text: string;
  /** What is in force now gives way to the new file, and so do its names. */
  readonly isReplaced: boolean;
}): Promise<readonly Offer[]> {
  const { operations, chosen, text, isReplaced } = options;
  const { providers } = readPresent(text);
  return Promise.all(
    chosen.map(async (found) => {
      const draft = { providers: { [found.name]: found.draft }, models: {} };
      const { proposals, problem } = await operations.providers.offerOf({
        text: addToManifest(text, draft).text,
        provider: found.name,
      });
      const own = providers[found.name];
      const listed =
        problem !== null
          ? undefined
          : proposals.length > 0
            ? proposals.map(({ upstream }) => upstream)
            : await listedNames({ operations, provider: found.name, fields: own ?? found.draft });
      return {
        found,
        listed,
        proposals: proposals
          .map((proposal) => (isReplaced ? withPlainId(proposal, found.name) : proposal))
          .map((proposal) => (found.isLocal ? withOwnPrice(proposal) : proposal)),
        problem: problem === null ? undefined : newTrouble(problem),
      };
    }),
  );
}

/** Without the provider's name, which was put in front of one that is taken now. */
function withPlainId(proposal: Proposal, provider: string): Proposal {
  const { id, upstream } = proposal;
  const isPrefixed = id.startsWith(`${provider}/`) && !upstream.startsWith(`${provider}/`);
  return isPrefixed ? { ...proposal, id: id.slice(provider.length + 1) } : proposal;
}

/** What runs on this machine has no vendor who asks for money. */
function withOwnPrice(proposal: Proposal): Proposal {
  if (proposal.price !== null) return proposal;
  const classes = billedClasses(proposal.endpoint, proposal.input);
  const price = Object.fromEntries(classes.map((key) => [key, "0"]));
  const note = "runs on your own machine: price 0";
  return { ...proposal, price, draft: { ...proposal.draft, price }, note };
}

export interface ModelWishes {
  readonly names: readonly string[];
  readonly wantsAll: boolean;
}

/** The models by flags: those named, all, or those that have a price and so are served at once. */
export async function chooseModels(options: {
  readonly offers: readonly Offer[];
  readonly wishes: ModelWishes;
  readonly present: Present;
  readonly nowMs: number;
}): Promise<readonly Connection[]> {
  const { offers, wishes, present, nowMs } = options;
  const { names, wantsAll } = wishes;
  if (names.length === 0)
    return offers.map(({ found, proposals }) => ({
      found,
      models: wantsAll ? proposals : proposals.filter(({ price }) => price !== null),
    }));
  const isThere = (name: string) =>
    offers.some(
      ({ found, proposals }) =>
        proposals.some((one) => isNamed(one, name)) || present.routes.has(`${found.name}/${name}`),
    );
  const missing = names.filter((name) => !isThere(name));
  // One that does not list its models is taken at the operator's word.
  const silent = offers.filter(({ listed }) => listed === undefined);
  const trusted = silent.length === 1 ? silent[0] : undefined;
  if (missing.length > 0 && trusted === undefined) throw notThere(offers, missing);
  return Promise.all(
    offers.map(async ({ found, proposals }) => ({
      found,
      models: [
        ...proposals.filter((one) => names.some((name) => isNamed(one, name))),
        ...(found === trusted?.found
          ? await proposeNamed({
              provider: found.name,
              fields: found.draft,
              names: missing,
              taken: takenIds([], present.models),
              nowMs,
            })
          : []),
      ],
    })),
  );
}

function notThere(offers: readonly Offer[], names: readonly string[]): Problem {
  const silent = offers.filter(({ listed }) => listed === undefined);
  if (silent.length > 1)
    return new Problem({
      code: "invalid",
      message: `${silent.map(({ found }) => found.name).join(" and ")} do not list their models: say by --provider whose ${names.join(", ")} is.`,
    });
  const provider = offers.map(({ found }) => found.name).join(" or ");
  const listed = offers.flatMap((offer) => offer.listed ?? []);
  const wayRound = `svc provider add ${offers[0]?.found.vendor || "NAME"} --models ${names[0]} --unlisted takes a name that is not on the list.`;
  return notOffered({ provider, names, listed, wayRound });
}
