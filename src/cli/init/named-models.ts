import { Problem } from "../../base/problem.ts";
import { addToManifest, type ProviderDraft } from "../../manifest/edit.ts";
import type { Literals } from "../../manifest/literals.ts";
import type { ProviderOperations } from "../../platform/providers/operations.ts";
import { placeOf } from "../../platform/providers/place.ts";
import {
  type Proposal,
  proposeModels,
  type TakenIds,
  useOf,
} from "../../platform/providers/proposal.ts";

/** By the upstream's name, or by the one that callers would use. */
export const isNamed = ({ id, upstream }: Proposal, name: string) =>
  upstream === name || upstream === `models/${name}` || id === name;

/** All that a provider lists and that can be served, routed or not; undefined: it does not tell. */
export async function listedNames(options: {
  readonly operations: { readonly providers: Pick<ProviderOperations, "offerOf"> };
  readonly provider: string;
  readonly fields: ProviderDraft;
  readonly literals?: Literals;
}): Promise<readonly string[] | undefined> {
  const { operations, provider, fields, literals = {} } = options;
  // In a file without models nothing is routed, so that nothing is left out for it.
  const { text } = addToManifest("", { providers: { [provider]: fields }, models: {} });
  const { proposals, left_out, problem } = await operations.providers.offerOf({
    text,
    provider,
    literals,
  });
  if (problem !== null || proposals.length + left_out === 0) return undefined;
  return proposals.map(({ upstream }) => upstream);
}

/** At the operator's word, where there is no list to look them up in. */
export function proposeNamed(options: {
  readonly provider: string;
  readonly fields: ProviderDraft;
  readonly names: readonly string[];
  readonly taken: TakenIds;
  readonly nowMs: number;
}): Promise<Proposal[]> {
  const { provider, fields, names, taken, nowMs } = options;
  const models = names.map((id) => ({ id }));
  return proposeModels({ provider, ...placeOf(fields), models, taken, nowMs });
}

/** Why names that are not on a provider's list are not taken, with those that were most likely meant. */
export function notOffered(options: {
  readonly provider: string;
  readonly names: readonly string[];
  readonly listed: readonly string[];
  /** How to take them all the same. */
  readonly wayRound: string;
}): Problem {
  const { provider, names, listed, wayRound } = options;
  const lines = names.map((name) => {
    if (useOf({ id: name }) === undefined)
      return `${name} is no model for chat, embeddings or speech, and nothing else is served here.`;
    const like = nearest(name, listed);
    if (like !== undefined) return `${provider} does not offer ${name}; did you mean ${like}?`;
    const some = listed.slice(0, 8).join(", ");
    const rest = listed.length > 8 ? ", …" : "";
    return `${provider} does not offer ${name}; it offers ${some === "" ? "none that can be served" : some}${rest}.`;
  });
  return new Problem({
    code: "invalid",
    message: [...lines, `Nothing was changed. ${wayRound}`].join("\n"),
  });
}

/** The one that differs by a slip or two, or begins like it. */
function nearest(name: string, listed: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const [best] = listed
    .map((one) => ({ one, steps: distance(wanted, one.toLowerCase()) }))
    .filter(({ one, steps }) => steps <= maxSlips(name) || one.toLowerCase().startsWith(wanted))
    .toSorted((left, right) => left.steps - right.steps);
  return best?.one;
}

const maxSlips = (name: string) => Math.max(1, Math.min(3, Math.floor(name.length / 3)));

/** How many letters must be put in, taken out, changed or swapped with their neighbour. */
function distance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 3) return Number.POSITIVE_INFINITY;
  let older: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let line = 1; line <= left.length; line++) {
    const next = [line];
    for (let at = 1; at <= right.length; at++) {
      const isSame = left[line - 1] === right[at - 1];
      const isSwap = left[line - 1] === right[at - 2] && left[line - 2] === right[at - 1];
      next.push(
        Math.min(
          (row[at] ?? 0) + 1,
          (next[at - 1] ?? 0) + 1,
          (row[at - 1] ?? 0) + (isSame ? 0 : 1),
          isSwap ? (older[at - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    older = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
