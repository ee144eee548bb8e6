import type { Reply } from "../../../api.ts";

export type Provider = Reply<"GET /api/providers">["providers"][number];
export type Target = Provider["targets"][number];

/** A breaker's own words read the wrong way round. */
export const stateLabels: Readonly<Record<Target["state"], string>> = {
  closed: "in service",
  open: "out of service",
  "half-open": "being tried",
  resting: "resting",
};

const reasons: Readonly<Record<string, string>> = {
  auth: "The key is not accepted.",
  quota: "No credit or quota is left.",
  missing: "The model or the address is not found.",
  limited: "The rate limit is reached.",
  overloaded: "It is overloaded.",
  timeout: "It is too slow.",
  unreachable: "It cannot be reached.",
  failed: "It keeps failing.",
  refused: "It refuses the calls.",
};

export const reasonWords = (reason: string | null) =>
  reason === null ? undefined : (reasons[reason] ?? reason);

export const trialLabels: Readonly<Record<string, string>> = {
  chat: "Chat",
  stream: "Chat that streams",
  embeddings: "Embeddings of text",
  media: "Embeddings of images",
  speech: "Speech",
  models: "List of its models",
};

/** Where the key is; never the key. */
export function keyWords({ api_key: key, options }: Provider): {
  readonly text: string;
  readonly isMissing: boolean;
} {
  const secrets = [key, ...options.map(({ secret }) => secret)].filter((one) => one !== null);
  const lacking = secrets.find((one) => !one.is_set);
  if (lacking !== undefined)
    return { text: `${lacking.variable ?? "the key"} is not set`, isMissing: true };
  const names = secrets.flatMap(({ variable }) => variable ?? []);
  if (names.length > 0) return { text: `from ${names.join(", ")}`, isMissing: false };
  return { text: secrets.length > 0 ? "kept encrypted" : "none needed", isMissing: false };
}
