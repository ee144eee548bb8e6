import type { removedKind } from "../base/removed-kind.ts";

/** What a provider entry can say beside its name, key and address, by kind. Data, not code. */
export const providerKinds = ["openai", "gemini", "vertex", "anthropic", "bedrock"] as const;
export type UsableKind = (typeof providerKinds)[number];
/** A stored provider may still have the removed kind; no one can add it. */
export type ProviderKind = UsableKind | typeof removedKind;

export interface ProviderOption {
  readonly about: string;
  /** Written out, it is encrypted; never shown. */
  readonly isSecret?: true;
  readonly isNeeded?: true;
  /** Where vendors' own tools look for it. */
  readonly variable?: string;
  /** The value is the path of a file, for which the other option has the content. */
  readonly contentOption?: string;
  /** The words that it may be. */
  readonly words?: readonly string[];
}

export interface ProviderKindShape {
  /** Used where the file names no base_url; undefined: the file must, unless the vendor is known. */
  readonly baseUrl: string | undefined;
  readonly needsKey: boolean;
  readonly options: Readonly<Record<string, ProviderOption>>;
}

const imageUrls: Readonly<Record<string, ProviderOption>> = {
  image_urls: {
    about: "whether the provider may fetch public image URLs; false with allow_private",
    words: ["true", "false"],
  },
};

const reuse: Readonly<Record<string, ProviderOption>> = {
  reuse: {
    about: "whether connections serve further requests; false for servers that you do not trust",
    words: ["true", "false"],
  },
};

export const providerKindShapes: Readonly<Record<ProviderKind, ProviderKindShape>> = {
  openai: {
    baseUrl: undefined,
    needsKey: false,
    options: {
      vendor: { about: "vendor of the server; svc provider add --help lists them" },
      responses: {
        about: "whether the server has POST /responses; default: as its vendor",
        words: ["true", "false"],
      },
      ...imageUrls,
      ...reuse,
    },
  },
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    needsKey: true,
    options: { ...reuse },
  },
  vertex: {
    // Made of the location.
    baseUrl: "",
    needsKey: false,
    options: {
      project: {
        about: "the Google Cloud project",
        isNeeded: true,
        variable: "GOOGLE_CLOUD_PROJECT",
      },
      location: {
        about: "for example us-central1",
        isNeeded: true,
        variable: "GOOGLE_CLOUD_LOCATION",
      },
      credentials: { about: "JSON key of the service account", isSecret: true },
      credentials_file: {
        about: "path of a file with the JSON key",
        contentOption: "credentials",
        variable: "GOOGLE_APPLICATION_CREDENTIALS",
      },
      ...reuse,
    },
  },
  anthropic: {
    baseUrl: "https://api.anthropic.com/v1",
    needsKey: true,
    options: { ...imageUrls, ...reuse },
  },
  bedrock: {
    // Made of the region.
    baseUrl: "",
    needsKey: false,
    options: {
      region: { about: "for example us-east-1", isNeeded: true, variable: "AWS_REGION" },
      access_key_id: { about: "instead of api_key", isSecret: true, variable: "AWS_ACCESS_KEY_ID" },
      secret_access_key: {
        about: "secret of access_key_id",
        isSecret: true,
        variable: "AWS_SECRET_ACCESS_KEY",
      },
      session_token: {
        about: "session token of temporary credentials",
        isSecret: true,
        variable: "AWS_SESSION_TOKEN",
      },
      ...imageUrls,
      ...reuse,
    },
  },
  "ai-sdk": { baseUrl: "", needsKey: false, options: {} },
};
