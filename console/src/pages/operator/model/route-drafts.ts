import type { Input, Reply } from "../../../api.ts";

type Entry = Reply<"GET /api/catalog/:model">;
type RouteInput = Input<"PUT /api/catalog/:model/routes">["body"]["routes"][number];

export const voiceNames = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;
type Voices = Readonly<Record<(typeof voiceNames)[number], string>>;

/** A route while it is edited. */
export interface Draft {
  /** Of the line, for as long as the dialog is open. */
  readonly id: number;
  readonly provider: string;
  readonly model: string;
  readonly priority: number;
  readonly weight: number;
  readonly hasSameVoices: boolean;
  readonly voices: Voices;
}

const noVoices: Voices = { Kore: "", Puck: "", Charon: "", Fenrir: "", Aoede: "" };

export function toDrafts({ routes }: Entry): readonly Draft[] {
  return routes.map(({ provider, model, priority, weight, voices }, id) => ({
    id,
    provider,
    model,
    priority,
    weight,
    hasSameVoices: voices === null || voices === "same",
    voices: voices === null || voices === "same" ? noVoices : voices,
  }));
}

/** Behind the others: it is asked when they fail, until its priority is changed. */
export function addRoute(drafts: readonly Draft[], provider: string): readonly Draft[] {
  const last = Math.max(0, ...drafts.map(({ priority }) => priority));
  const id = Math.max(-1, ...drafts.map((draft) => draft.id)) + 1;
  const priority = Math.min(last + 1, 100);
  return [
    ...drafts,
    { id, provider, model: "", priority, weight: 1, hasSameVoices: true, voices: noVoices },
  ];
}

export function toInputs({ endpoint }: Entry, drafts: readonly Draft[]): RouteInput[] {
  return drafts.map(({ provider, model, priority, weight, hasSameVoices, voices }) => ({
    provider,
    model: model.trim(),
    priority,
    weight,
    ...(endpoint === "speech" ? { voices: hasSameVoices ? ("same" as const) : voices } : {}),
  }));
}
