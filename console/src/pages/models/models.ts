import type { Reply } from "../../api.ts";

export type Model = Reply<"GET /api/accounts/:account/models">[number];

export interface Group {
  readonly title: string;
  readonly about: string;
  readonly models: readonly Model[];
}

const groups = [
  {
    endpoint: "chat",
    title: "Chat",
    about: "Conversations, streamed or not. POST /chat/completions, /responses or /messages",
  },
  {
    endpoint: "embeddings",
    title: "Embeddings",
    about: "Vectors for search and comparison. POST /embeddings",
  },
  { endpoint: "speech", title: "Speech", about: "Text to speech. POST /audio/speech" },
  {
    endpoint: "transcription",
    title: "Transcription",
    about: "Speech to text. POST /audio/transcriptions",
  },
];

/** By endpoint; those of an endpoint that is not known here are not lost. */
export function toGroups(models: readonly Model[]): readonly Group[] {
  const known = groups.map(({ endpoint, title, about }) => ({
    title,
    about,
    models: models
      .filter((model) => model.endpoint === endpoint)
      .toSorted((one, other) => rank(one) - rank(other)),
  }));
  const rest = models.filter(({ endpoint }) =>
    groups.every((group) => group.endpoint !== endpoint),
  );
  return [...known, { title: "Other", about: "Models for other endpoints.", models: rest }].filter(
    (group) => group.models.length > 0,
  );
}

/** What goes away comes last. */
const rank = ({ status }: Model) => (status === "active" ? 0 : 1);

/** What it does, in a few words. */
export function purposeOf({ endpoint, input }: Model): string {
  if (endpoint === "chat") return "Messages in, text out";
  if (endpoint === "speech") return "Text in, speech out";
  if (endpoint === "transcription") return "Audio in, text out";
  if (endpoint !== "embeddings") return endpoint;
  return input === "media" ? "Images or a video in, vectors out" : "Text in, vectors out";
}

/** Every word that was typed must be somewhere in it. */
export function isFound(model: Model, find: string): boolean {
  const text = `${model.id} ${model.endpoint} ${purposeOf(model)} ${model.status}`.toLowerCase();
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
