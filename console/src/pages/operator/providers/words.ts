import {
  type ProviderOption,
  providerKindShapes,
  providerKinds,
} from "../../../../../src/catalog/provider-kinds.ts";
import type { Reply } from "../../../api.ts";

export type Provider = Reply<"GET /api/providers">["providers"][number];
export type Vendor = Reply<"GET /api/vendors">[number];
export type Target = Provider["targets"][number];

/** The states of a circuit breaker, in plain words. */
export const stateLabels: Readonly<Record<Target["state"], string>> = {
  closed: "in service",
  open: "out of service",
  "half-open": "retrying",
  resting: "backing off",
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
  models: "Model list",
};

/** Where the key comes from; never the key itself. */
export function keyWords({ api_key: key, options }: Provider): {
  readonly text: string;
  readonly isMissing: boolean;
} {
  const secrets = [key, ...options.map(({ secret }) => secret)].filter((one) => one !== null);
  const lacking = secrets.find((one) => !one.is_set);
  if (lacking !== undefined)
    return {
      text: lacking.variable === null ? "not set" : `${lacking.variable} is not set`,
      isMissing: true,
    };
  const names = secrets.flatMap(({ variable }) => variable ?? []);
  if (names.length > 0) return { text: `from ${names.join(", ")}`, isMissing: false };
  return { text: secrets.length > 0 ? "stored encrypted" : "not needed", isMissing: false };
}

/** What a provider of a kind can be given beside its address and key. */
export function optionsOf(kind: string): readonly (readonly [string, ProviderOption])[] {
  const { options } = shapeOf(kind);
  return Object.entries(options).filter(([name]) => name !== "vendor");
}

export const takesMoreOptions = (kind: string) => shapeOf(kind).takesOptions === true;

const shapeOf = (kind: string) =>
  providerKindShapes[providerKinds.find((one) => one === kind) ?? "openai"];

export const optionTexts: Readonly<Record<string, { readonly label: string; about: string }>> = {
  project: { label: "Project", about: "The Google Cloud project ID." },
  location: { label: "Location", about: "For example, us-central1." },
  credentials: { label: "Service account key", about: "The JSON itself. Stored encrypted." },
  credentials_file: {
    label: "Service account key file",
    about: "The path to the JSON file on the gateway's machine.",
  },
  region: { label: "Region", about: "For example, us-east-1." },
  access_key_id: { label: "Access key ID", about: "Instead of an API key." },
  secret_access_key: { label: "Secret access key", about: "Belongs to the access key ID." },
  session_token: { label: "Session token", about: "Only for temporary credentials." },
  package: {
    label: "Package",
    about: "An installed AI SDK provider package, such as @ai-sdk/mistral.",
  },
  factory: {
    label: "Factory",
    about: "The export that creates the provider, if the package has several.",
  },
  image_urls: {
    label: "Image URLs",
    about:
      "Whether the provider may fetch images from callers' URLs. Default: yes, unless a private address is allowed.",
  },
};
