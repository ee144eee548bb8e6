import type { Endpoint } from "../../../../../src/call/endpoint.ts";
import { type Voice, voices as voiceNames } from "../../../../../src/call/speak.ts";
import type { Input, Reply } from "../../../api.ts";
import { filledTexts, type PriceTexts } from "../prices/price-fields.tsx";

type Entry = Reply<"GET /api/catalog/:model">;
export type Route = Entry["routes"][number];
type RouteInput = Input<"PUT /api/catalog/:model/routes">["body"]["routes"][number];
type Voices = Readonly<Record<Voice, string>>;

/** A route while it is edited. */
export interface RouteDraft {
  readonly provider: string;
  readonly model: string;
  readonly priority: number;
  readonly weight: number;
  readonly hasSameVoices: boolean;
  readonly voices: Voices;
  /** Of embeddings; empty: by what is known of the upstream model. */
  readonly dimensions: "" | "own" | "3072";
  readonly cost: PriceTexts;
}

const noVoices: Voices = { Kore: "", Puck: "", Charon: "", Fenrir: "", Aoede: "" };
export const routeFieldNames = [
  "provider",
  "model",
  "priority",
  "weight",
  "dimensions",
  ...voiceNames.map((voice) => `voices.${voice}`),
];

export function toRouteDraft(route: Route): RouteDraft {
  const { provider, model, priority, weight, voices, dimensions, cost } = route;
  const hasSameVoices = voices === null || voices === "same";
  return {
    provider,
    model,
    priority,
    weight,
    hasSameVoices,
    voices: hasSameVoices ? noVoices : voices,
    dimensions: dimensions ?? "",
    cost: cost ?? {},
  };
}

/** Behind the others: it is tried when they fail, until its priority is changed. */
export function newRouteDraft(routes: readonly Route[], provider: string): RouteDraft {
  const last = Math.max(0, ...routes.map(({ priority }) => priority));
  return {
    provider,
    model: "",
    priority: Math.min(last + 1, 100),
    weight: 1,
    hasSameVoices: true,
    voices: noVoices,
    dimensions: "",
    cost: {},
  };
}

/** The first one where none is chosen: the list of providers may come after the form. */
export const withProvider = (draft: RouteDraft, providers: readonly string[]): RouteDraft =>
  draft.provider === "" ? { ...draft, provider: providers[0] ?? "" } : draft;

export function toRouteInput(endpoint: Endpoint, draft: RouteDraft): RouteInput {
  const { provider, model, priority, weight, dimensions } = draft;
  return {
    provider,
    model: model.trim(),
    priority,
    weight,
    ...(endpoint === "speech" ? { voices: draft.hasSameVoices ? "same" : draft.voices } : {}),
    ...(endpoint === "embeddings" ? { dimensions: dimensions === "" ? null : dimensions } : {}),
    cost: toCost(draft.cost),
  };
}

export function toCost(texts: PriceTexts): PriceTexts | null {
  const cost = filledTexts(texts);
  return Object.keys(cost).length === 0 ? null : cost;
}

/** All that is known of it stays. */
export const keepRoute = ({ provider, model }: Route): RouteInput => ({ provider, model });

/** The page is fetched again while a dialog is open: the same route may be another object. */
export const isSameTarget = (one: Route, other: Route) =>
  one.provider === other.provider && one.model === other.model;
