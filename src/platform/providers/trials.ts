import type { Endpoint, InputKind } from "../../call/endpoint.ts";
import type { Trial, TrialKind, TrialLimits } from "../../call/trial.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { ProviderEntry, ProviderKey, Timeouts } from "../../catalog/model.ts";
import { keysOf } from "../../catalog/provider-keys.ts";
import { canCompare, routesTo } from "./listing.ts";
import { useOf } from "./proposal.ts";

/** One call of a test. Without a trial, the models are listed. */
export interface PlannedTrial {
  readonly key: ProviderKey | undefined;
  readonly trial: Trial | undefined;
}

/**
 * One call of each kind with the first key that is in use, and one call with each other key. Where
 * the vendor's list is complete, or nothing is routed, the models are listed last.
 */
export function planTest(options: {
  readonly content: CatalogContent;
  readonly entry: ProviderEntry;
  readonly model: string | undefined;
}): readonly PlannedTrial[] {
  const { content, entry, model } = options;
  const { name } = entry;
  const trials = trialsOf({ content, name, model });
  const keys = keysOf(entry);
  const inUse = keys.filter(({ isPaused }) => isPaused !== true);
  const [first = keys[0], ...others] = inUse;
  const [trial] = trials;
  const isCompared = canCompare(entry) && routesTo(content, name, model).length > 0;
  return [
    ...trials.map((one) => ({ key: first, trial: one })),
    ...(isCompared || trial === undefined ? [{ key: first, trial: undefined }] : []),
    ...others.map((key) => ({ key, trial })),
  ];
}

/** The smallest call that shows whether a key works; undefined where no model is routed. */
export const keyTrial = (content: CatalogContent, name: string): Trial | undefined =>
  trialsOf({ content, name, model: undefined })[0];

const kindsOf = (endpoint: Endpoint, input: InputKind): readonly TrialKind[] => {
  if (endpoint === "chat") return ["chat", "stream"];
  if (endpoint === "speech" || endpoint === "transcription") return [endpoint];
  return [input === "media" ? "media" : "embeddings"];
};

const kindOrder: readonly TrialKind[] = [
  "chat",
  "stream",
  "embeddings",
  "media",
  "speech",
  "transcription",
];

/** The first route of each kind; with a model named, that one, routed or not. */
export function trialsOf(options: {
  readonly content: CatalogContent;
  readonly name: string;
  readonly model: string | undefined;
}): readonly Trial[] {
  const { content, name, model: wanted } = options;
  const trials = new Map<TrialKind, Trial>();
  for (const { id, endpoint, input, routes, timeouts } of content.models)
    for (const { provider, model, voices } of routes) {
      if (provider !== name || (wanted !== undefined && wanted !== id && wanted !== model))
        continue;
      for (const kind of kindsOf(endpoint, input))
        if (!trials.has(kind))
          trials.set(kind, { kind, model, voices, limits: limitsOf(timeouts) });
    }
  if (wanted === undefined || trials.size > 0)
    return kindOrder.flatMap((kind) => trials.get(kind) ?? []);
  const use = useOf({ id: wanted }) ?? { endpoint: "chat" as const, input: "text" as const };
  return kindsOf(use.endpoint, use.input).map((kind) => ({ kind, model: wanted }));
}

function limitsOf({ connect, firstByte, total }: Timeouts = {}): Partial<TrialLimits> {
  return {
    ...(connect === undefined ? {} : { lookMs: connect * 1000 }),
    ...(firstByte === undefined ? {} : { firstByteMs: firstByte * 1000 }),
    ...(total === undefined ? {} : { withinMs: total * 1000 }),
  };
}
