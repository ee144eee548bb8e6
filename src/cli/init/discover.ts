import type { ProviderKind } from "../../catalog/provider-kinds.ts";
import { findVendor, type Vendor, vendors } from "../../catalog/vendors.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { type DiscoverOptions, type FoundServer, probeServers } from "./discover-servers.ts";

/** A provider that could be connected: how it was found, and what svc.yaml would say of it. */
export interface Found {
  /** What it would be called in svc.yaml. */
  readonly name: string;
  readonly vendor: string;
  readonly title: string;
  /** The names of variables, never what is in them, or the address of a server. */
  readonly by: string;
  readonly draft: ProviderDraft;
  readonly kind: ProviderKind;
  /** Empty where the kind makes its own. */
  readonly baseUrl: string;
  readonly isLocal: boolean;
  /** Its variable is there for other tools too: connected only when it is named. */
  readonly isShared: boolean;
  /** Why it cannot be connected as it is. */
  readonly problem?: string;
  readonly notes: readonly string[];
}

const usualLocation = "us-central1";
const usualRegion = "us-east-1";
const sharedVariables = [
  "GITHUB_TOKEN",
  "HF_TOKEN",
  "AWS_ACCESS_KEY_ID",
  "GOOGLE_APPLICATION_CREDENTIALS",
];

/** Keys in the environment and servers on this machine, in the order of the table of vendors. */
export async function discover(options: DiscoverOptions): Promise<readonly Found[]> {
  const { variable } = options;
  const isSet = (name: string) => (variable(name) ?? "") !== "";
  const servers = await probeServers(options);
  const hosted = vendors
    .filter((vendor) => vendor.isLocal !== true)
    .flatMap((vendor) => fromEnvironment(vendor, { isSet, variable }));
  return [...hosted, ...named(servers).map(toFound)];
}

/** A vendor that is named although nothing of it was found: its key may be set where the gateway runs. */
export function assume(vendorId: string): Found | undefined {
  const vendor = findVendor(vendorId);
  if (vendor === undefined) return undefined;
  if (vendor.isLocal === true)
    return toFound({ name: vendor.id, vendor: vendor.id, baseUrl: vendor.baseUrl, notes: [] });
  const [found] = fromEnvironment(vendor, { isSet: () => true, variable: () => undefined });
  return found && { ...found, isShared: false };
}

interface Environment {
  readonly isSet: (name: string) => boolean;
  readonly variable: (name: string) => string | undefined;
}

function fromEnvironment(vendor: Vendor, environment: Environment): readonly Found[] {
  const { isSet } = environment;
  const keyVariable = vendor.keyVariables.find(isSet);
  const draft = draftOf(vendor, keyVariable, environment);
  if (draft === undefined) return [];
  const { fields, by, problem, notes = [] } = draft;
  return [
    {
      name: vendor.id,
      vendor: vendor.id,
      title: vendor.title,
      by: by.join(", "),
      draft: fields,
      kind: vendor.kind,
      baseUrl: String(fields["base_url"] ?? vendor.baseUrl),
      isLocal: false,
      isShared: by.some((name) => sharedVariables.includes(name)),
      ...(problem === undefined ? {} : { problem }),
      notes,
    },
  ];
}

interface Draft {
  readonly fields: ProviderDraft;
  readonly by: readonly string[];
  readonly problem?: string;
  readonly notes?: readonly string[];
}

function draftOf(
  vendor: Vendor,
  keyVariable: string | undefined,
  environment: Environment,
): Draft | undefined {
  if (vendor.kind === "vertex") return vertexDraft(environment);
  if (vendor.kind === "bedrock") return bedrockDraft(keyVariable, environment);
  if (keyVariable === undefined) return undefined;
  const by = [keyVariable];
  const key = { api_key: reference(keyVariable) };
  if (!vendor.baseUrl.includes("{")) return { fields: { vendor: vendor.id, ...key }, by };
  const baseUrl = azureAddress(environment);
  if (baseUrl !== undefined)
    return { fields: { vendor: vendor.id, base_url: baseUrl, ...key }, by };
  return {
    fields: { vendor: vendor.id, ...key },
    by,
    problem: "its address is unknown. Set AZURE_OPENAI_ENDPOINT, or add it with svc provider add",
  };
}

/** An address is no secret, and svc.yaml takes it only as it is. */
function azureAddress({ variable }: Environment): string | undefined {
  const endpoint = variable("AZURE_OPENAI_ENDPOINT") ?? "";
  const resource = variable("AZURE_RESOURCE_NAME") ?? "";
  if (/^[\w-]+$/.test(resource)) return `https://${resource}.openai.azure.com/openai/v1`;
  if (!URL.canParse(endpoint)) return undefined;
  const { origin } = new URL(endpoint);
  return origin.startsWith("https:") ? `${origin}/openai/v1` : undefined;
}

function vertexDraft({ isSet, variable }: Environment): Draft | undefined {
  const by = ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"];
  if (!by.every(isSet)) return undefined;
  const { location, notes } = vertexLocation(variable);
  const fields = {
    kind: "vertex",
    project: reference("GOOGLE_CLOUD_PROJECT"),
    location,
    credentials_file: reference("GOOGLE_APPLICATION_CREDENTIALS"),
  };
  return { fields, by, notes };
}

/** Image and video embeddings are served by regions alone, so `global` will not do. */
export function vertexLocation(variable: Environment["variable"]): {
  readonly location: string;
  readonly notes: readonly string[];
} {
  const given = variable("GOOGLE_CLOUD_LOCATION") ?? "";
  if (given !== "" && given !== "global")
    return { location: reference("GOOGLE_CLOUD_LOCATION"), notes: [] };
  const why = given === "" ? "GOOGLE_CLOUD_LOCATION is not set" : "embeddings need a region";
  return { location: usualLocation, notes: [`location: ${usualLocation}, because ${why}`] };
}

function bedrockDraft(keyVariable: string | undefined, { isSet }: Environment): Draft | undefined {
  const pair = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
  if (keyVariable === undefined && !pair.every(isSet)) return undefined;
  const regionVariable = ["AWS_REGION", "AWS_DEFAULT_REGION"].find(isSet);
  const region = regionVariable === undefined ? usualRegion : reference(regionVariable);
  const notes =
    regionVariable === undefined ? [`region: ${usualRegion}, because AWS_REGION is not set`] : [];
  if (keyVariable !== undefined)
    return {
      fields: { kind: "bedrock", region, api_key: reference(keyVariable) },
      by: [keyVariable],
      notes,
    };
  const fields = {
    kind: "bedrock",
    region,
    access_key_id: reference("AWS_ACCESS_KEY_ID"),
    secret_access_key: reference("AWS_SECRET_ACCESS_KEY"),
    ...(isSet("AWS_SESSION_TOKEN") ? { session_token: reference("AWS_SESSION_TOKEN") } : {}),
  };
  return { fields, by: pair, notes };
}

const reference = (name: string) => `\${${name}}`;

/** Two servers of one vendor get names of their own. */
function named(
  servers: readonly FoundServer[],
): readonly (FoundServer & { readonly name: string })[] {
  const counts = new Map<string, number>();
  return servers.map((server) => {
    const base = server.vendor === "" ? "local" : server.vendor;
    const count = (counts.get(base) ?? 0) + 1;
    counts.set(base, count);
    return { ...server, name: count === 1 ? base : `${base}-${count}` };
  });
}

function toFound(server: FoundServer & { readonly name: string }): Found {
  const { name, vendor, baseUrl, notes } = server;
  const known = findVendor(vendor);
  const isUsual = known?.baseUrl === baseUrl;
  return {
    name,
    vendor,
    title: known?.title ?? "OpenAI-compatible server",
    by: baseUrl.replace(/\/v1$/, ""),
    draft: {
      ...(known === undefined ? { kind: "openai" } : { vendor }),
      ...(isUsual ? {} : { base_url: baseUrl }),
      allow_private: true,
    },
    kind: "openai",
    baseUrl,
    isLocal: true,
    isShared: false,
    notes,
  };
}
