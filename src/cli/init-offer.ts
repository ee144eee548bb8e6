import { Problem } from "../base/problem.ts";
import { billedClasses } from "../call/endpoint.ts";
import { addToManifest } from "../manifest/edit.ts";
import type { Found } from "../platform/discover.ts";
import type { Operations } from "../platform/operations.ts";
import { type Proposal, proposeModels } from "../platform/proposal.ts";
import type { Connection, Present } from "./init-plan.ts";

/** What a provider said when it was asked for its models. */
export interface Offer {
  readonly found: Found;
  readonly proposals: readonly Proposal[];
  /** Why it could not be asked, and what to do. */
  readonly problem: string | undefined;
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
  return Promise.all(
    chosen.map(async (found) => {
      const draft = { providers: { [found.name]: found.draft }, models: {} };
      const { proposals, problem } = await operations.offerModels({
        text: addToManifest(text, draft).text,
        provider: found.name,
      });
      return {
        found,
        proposals: proposals
          .map((proposal) => (isReplaced ? withPlainId(proposal, found.name) : proposal))
          .map((proposal) => (found.isLocal ? withOwnPrice(proposal) : proposal)),
        problem: problem === null ? undefined : `${problem.what} ${problem.advice}`.trim(),
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
  const isNamed = ({ id, upstream }: Proposal) => names.includes(id) || names.includes(upstream);
  const offered = offers.flatMap(({ proposals }) =>
    proposals.flatMap((one) => [one.id, one.upstream]),
  );
  const missing = names.filter((name) => !offered.includes(name));
  // One that does not list its models is taken at the operator's word.
  const silent = offers.filter(({ proposals }) => proposals.length === 0);
  const trusted = offers.length === 1 || silent.length === 1 ? silent[0] : undefined;
  if (missing.length > 0 && trusted === undefined)
    throw new Problem(
      "invalid",
      `--models: ${missing.join(", ")} is not offered; svc init --all-models --dry-run shows what is.`,
    );
  return Promise.all(
    offers.map(async ({ found, proposals }) => ({
      found,
      models:
        found === trusted?.found
          ? await proposeNamed({ found, names: missing, present, nowMs })
          : proposals.filter(isNamed),
    })),
  );
}

function proposeNamed(options: {
  readonly found: Found;
  readonly names: readonly string[];
  readonly present: Present;
  readonly nowMs: number;
}): Promise<readonly Proposal[]> {
  const { found, names, present, nowMs } = options;
  return proposeModels({
    provider: found.name,
    kind: found.kind,
    vendor: found.vendor === "" ? undefined : found.vendor,
    baseUrl: found.baseUrl,
    models: names
      .filter((name) => !present.routes.has(`${found.name}/${name}`))
      .map((id) => ({ id })),
    taken: present.models,
    nowMs,
  });
}
