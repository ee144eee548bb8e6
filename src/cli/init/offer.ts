import { Problem } from "../../base/problem.ts";
import { billedClasses } from "../../call/endpoint.ts";
import { closest } from "../../config/suggestion.ts";
import type { Operations } from "../../platform/operations.ts";
import { useOf } from "../../platform/providers/proposal.ts";
import type { Proposal, TroubleView } from "../../platform/providers/schemas.ts";
import type { Choice } from "../terminal/prompts.ts";
import type { Found } from "./discover.ts";
import type { Connection } from "./plan.ts";
import { priceText } from "./show.ts";

/** What a provider said when it was asked for its models. */
export interface Offer {
  readonly found: Found;
  readonly proposals: readonly Proposal[];
  /** Why it could not be asked, and what to do. */
  readonly problem: string | undefined;
  /** All models that it lists; null if it has no list. */
  readonly listed: readonly string[] | null;
}

/** What is wrong, and what to do, in one line. */
export const troubleText = ({ what, advice }: TroubleView): string => `${what} ${advice}`.trim();

export const toChoice = (proposal: Proposal): Choice<Proposal> => ({
  value: proposal,
  label: `${proposal.id}  ${proposal.endpoint}`,
  hint: proposal.price === null ? "no public price" : priceText(proposal.price),
});

/** Asks all at once, as the gateway would. */
export function readOffers(
  operations: Operations,
  chosen: readonly Found[],
): Promise<readonly Offer[]> {
  return Promise.all(
    chosen.map(async (found) => {
      const { proposals, problem, listed } = await operations.providers.offerOf({
        provider: found.name,
        draft: found.draft,
      });
      return {
        found,
        listed,
        proposals: found.isLocal ? proposals.map(withOwnPrice) : proposals,
        problem: problem === null ? undefined : troubleText(problem),
      };
    }),
  );
}

/** Models on this machine have no vendor to pay. */
function withOwnPrice(proposal: Proposal): Proposal {
  if (proposal.price !== null) return proposal;
  const classes = billedClasses(proposal.endpoint, proposal.input);
  const price = Object.fromEntries(classes.map((key) => [key, "0"]));
  const note = "It runs on this machine. Its price is 0.";
  return { ...proposal, price, draft: { ...proposal.draft, price }, note };
}

export interface ModelWishes {
  readonly names: readonly string[];
  readonly wantsAll: boolean;
}

/** The models by flags: those named, all, or those that have a price and so are served at once. */
export async function chooseModels(options: {
  readonly operations: Operations;
  readonly offers: readonly Offer[];
  readonly wishes: ModelWishes;
  /** Whether a provider serves a model of this name already. */
  readonly isRouted: (provider: string, name: string) => boolean;
}): Promise<readonly Connection[]> {
  const { operations, offers, wishes, isRouted } = options;
  const { names, wantsAll } = wishes;
  if (names.length === 0)
    return offers.map(({ found, proposals }) => ({
      found,
      models: wantsAll ? proposals : proposals.filter(({ price }) => price !== null),
    }));
  const isThere = (name: string) =>
    offers.some(
      ({ found, proposals }) =>
        proposals.some((one) => isNamed(one, name)) || isRouted(found.name, name),
    );
  const missing = names.filter((name) => !isThere(name));
  // A provider without a list may have any model that the operator names.
  const silent = offers.filter(({ listed }) => listed === null);
  const trusted = silent.length === 1 ? silent[0] : undefined;
  if (missing.length > 0 && trusted === undefined) throw notThere(offers, missing);
  return Promise.all(
    offers.map(async ({ found, proposals }) => {
      const chosen = proposals.filter((one) => names.some((name) => isNamed(one, name)));
      if (found !== trusted?.found || missing.length === 0) return { found, models: chosen };
      const { name: provider, draft } = found;
      const more = await operations.providers.proposeNamed({ provider, draft, names: missing });
      return { found, models: [...chosen, ...more] };
    }),
  );
}

/** By the upstream's name, or by the one that callers would use. */
export const isNamed = ({ id, upstream }: Proposal, name: string) =>
  upstream === name || upstream === `models/${name}` || id === name;

function notThere(offers: readonly Offer[], names: readonly string[]): Problem {
  const silent = offers.filter(({ listed }) => listed === null);
  if (silent.length > 1)
    return new Problem({
      code: "invalid",
      message: `${silent.map(({ found }) => found.name).join(" and ")} do not list their models. Choose the provider of ${names.join(", ")} with --provider.`,
      field: "provider",
    });
  const provider = offers.map(({ found }) => found.name).join(" or ");
  const listed = offers.flatMap((offer) => offer.listed ?? []);
  const wayRound = `To use a name that is not listed: svc provider add ${offers[0]?.found.vendor || "NAME"} --models ${names[0]} --unlisted`;
  return notOffered({ provider, names, listed, wayRound });
}

/** Reports names that a provider does not list, with the most similar ones. */
export function notOffered(options: {
  readonly provider: string;
  readonly names: readonly string[];
  readonly listed: readonly string[];
  /** How to use them anyway. */
  readonly wayRound: string;
}): Problem {
  const { provider, names, listed, wayRound } = options;
  const lines = names.map((name) => {
    if (useOf({ id: name }) === undefined)
      return `${name} is not a chat, embeddings, speech or transcription model, so it cannot be served.`;
    const like = nearest(name, listed);
    if (like !== undefined) return `${provider} does not offer ${name}. Did you mean ${like}?`;
    const some = listed.slice(0, 8).join(", ");
    const rest = listed.length > 8 ? ", …" : "";
    return `${provider} does not offer ${name}. It offers ${some === "" ? "no models that can be served" : some}${rest}.`;
  });
  return new Problem({
    code: "invalid",
    message: [...lines, `Nothing was changed. ${wayRound}`].join("\n"),
    field: "models",
  });
}

/** The most similar name, or one that begins with it. */
function nearest(name: string, listed: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  return closest(name, listed) ?? listed.find((one) => one.toLowerCase().startsWith(wanted));
}
