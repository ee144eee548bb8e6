import {
  type ProviderOption,
  providerKindShapes,
  providerKinds,
} from "../../../../../src/catalog/provider-kinds.ts";
import type { Reply } from "../../../api.ts";

export type Provider = Reply<"GET /api/providers">["providers"][number];
export type Vendor = Reply<"GET /api/vendors">[number];
export type Target = Provider["targets"][number];
export type Key = Provider["keys"][number];

/** What the circuit breaker does with a target that it does not simply call. */
export const breakerNotes: Readonly<Record<Target["state"], string | undefined>> = {
  closed: undefined,
  open: "Skipped.",
  "half-open": "Retrying.",
  resting: "Backing off.",
};

const reasons: Readonly<Record<string, string>> = {
  auth: "The provider rejects the key.",
  quota: "Out of credit or quota.",
  missing: "Model or address not found.",
  limited: "Rate limit reached.",
  overloaded: "Provider overloaded.",
  timeout: "Timed out.",
  unreachable: "Cannot be reached.",
  failed: "Repeated failures.",
  refused: "The provider rejects the calls.",
};

export const reasonWords = (reason: string | null) =>
  reason === null ? undefined : (reasons[reason] ?? reason);

export const trialLabels: Readonly<Record<string, string>> = {
  chat: "Chat",
  stream: "Streaming chat",
  embeddings: "Text embeddings",
  media: "Image embeddings",
  speech: "Speech",
  transcription: "Transcription",
  models: "Model list",
};

/** Where a secret is; never the secret itself. */
export function secretWords({ variable, hint, is_set: isSet }: Key["secret"]): string {
  if (variable !== null) return isSet ? `from ${variable}` : `${variable} is not set`;
  return hint === null ? "stored encrypted" : `stored encrypted, ends in ${hint}`;
}

/** Where the keys come from; one that is not set is named. */
export function keyWords({ keys, options }: Provider): {
  readonly text: string;
  readonly isMissing: boolean;
} {
  const secrets = options.flatMap(({ secret }) => secret ?? []);
  const unset = keys.filter((key) => !key.secret.is_set).map((key) => key.secret);
  // One key that is set is enough.
  const lacking = [
    ...(unset.length === keys.length ? unset : []),
    ...secrets.filter((one) => !one.is_set),
  ][0];
  if (lacking !== undefined) return { text: secretWords(lacking), isMissing: true };
  if (keys.length > 1) return { text: `${keys.length} keys`, isMissing: false };
  const all = [...keys.map(({ secret }) => secret), ...secrets];
  const names = all.flatMap(({ variable }) => variable ?? []);
  if (names.length > 0) return { text: `from ${names.join(", ")}`, isMissing: false };
  const [first] = all;
  return { text: first === undefined ? "not needed" : secretWords(first), isMissing: false };
}

/** What a provider of a kind can be given beside its address and key. */
export function optionsOf(kind: string): readonly (readonly [string, ProviderOption])[] {
  const { options } = shapeOf(kind);
  // Few need to say what the vendor has, and only the file and the command line can name a path.
  const ofFile = ["vendor", "responses"];
  return Object.entries(options).filter(
    ([name, { contentOption }]) => !ofFile.includes(name) && contentOption === undefined,
  );
}

const shapeOf = (kind: string) =>
  providerKindShapes[providerKinds.find((one) => one === kind) ?? "openai"];

export const optionTexts: Readonly<Record<string, { readonly label: string; about: string }>> = {
  project: { label: "Project", about: "The Google Cloud project ID." },
  location: { label: "Location", about: "For example, us-central1." },
  credentials: { label: "Service account key", about: "The JSON itself. Stored encrypted." },
  region: { label: "Region", about: "For example, us-east-1." },
  access_key_id: { label: "Access key ID", about: "Instead of an API key." },
  secret_access_key: { label: "Secret access key", about: "Belongs to the access key ID." },
  session_token: { label: "Session token", about: "Only for temporary credentials." },
  image_urls: {
    label: "Image URLs",
    about:
      "Whether the provider may fetch images from callers' URLs. Default: yes, unless a private address is allowed.",
  },
  reuse: {
    label: "Reuse connections",
    about: "Whether connections serve further requests. Default: yes.",
  },
};
