import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { ApiProblem } from "../../api.ts";

/** The part of JSON Schema that our descriptions use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly nullable?: boolean;
  readonly deprecated?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly "x-preview"?: boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  /** By name, where there are several. */
  readonly examples?: Readonly<
    Record<string, { readonly summary?: string; readonly value: unknown }>
  >;
}

interface ReplyObject {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Referenced {
  readonly $ref?: string;
}

interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly "x-preview"?: boolean;
  readonly "x-scope"?: string;
  readonly parameters?: readonly (Parameter | Referenced)[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, ReplyObject | Referenced>>;
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers?: readonly {
    readonly url: string;
    readonly variables?: Readonly<Record<string, { readonly default: string }>>;
  }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export type ApiKind = "gateway" | "platform";

export interface EndpointReply {
  /** Such as `200`, or `default` for all that are not named. */
  readonly status: string;
  readonly description: string;
  readonly contents: readonly (Content & { readonly type: string })[];
}

export interface Endpoint {
  /** In the address, behind the #. */
  readonly id: string;
  readonly api: ApiKind;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly scope: string | undefined;
  readonly isPreview: boolean;
  readonly isDeprecated: boolean;
  /** The reply is a stream of events that goes on. */
  readonly isStream: boolean;
  /** It replies whole, or as a stream where the body asks for one. */
  readonly canStream: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: (Content & { readonly type: string }) | undefined;
  readonly replies: readonly EndpointReply[];
}

export const useGatewayDocument = () => useDocument("/openapi.json");
export const usePlatformDocument = () => useDocument("/api/openapi.json");

function useDocument(path: string): UseQueryResult<OpenApi, ApiProblem> {
  return useQuery<OpenApi, ApiProblem>({
    queryKey: [path],
    queryFn: async ({ signal }) => {
      const response = await fetch(path, { signal });
      if (!response.ok)
        throw new ApiProblem({
          status: response.status,
          code: "failed",
          message: `Could not load the API description (${response.status}).`,
        });
      return (await response.json()) as OpenApi;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Where requests go; ends in /v1 for the gateway. */
export function baseUrlOf({ servers }: OpenApi): string {
  const [server] = servers ?? [];
  const url = (server?.url ?? "").replace(
    /\{(\w+)\}/g,
    (_, name: string) => server?.variables?.[name]?.default ?? "",
  );
  return url.replace(/\/$/, "");
}

/** What a `$ref` leads to; as it is where there is none. */
export function resolve<Value extends object>(document: OpenApi, value: Value | Referenced): Value {
  let found: unknown = value;
  // Our own documents never lead further; one that goes in a circle must not hang the page.
  for (let steps = 0; steps < 8 && refOf(found) !== undefined; steps += 1) {
    const [, , kind = "", name = ""] = (refOf(found) ?? "").split("/");
    found = document.components?.[kind]?.[name];
  }
  return (found ?? {}) as Value;
}

function refOf(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && "$ref" in value
    ? String(value.$ref)
    : undefined;
}

export function endpointsOf(document: OpenApi | undefined, api: ApiKind): readonly Endpoint[] {
  if (document === undefined) return [];
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      toEndpoint(document, { api, path, method: method.toUpperCase(), operation }),
    ),
  );
}

interface Found {
  readonly api: ApiKind;
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function toEndpoint(document: OpenApi, { api, path, method, operation }: Found): Endpoint {
  const tag = operation.tags?.[0] ?? "";
  const [body] = typed(operation.requestBody?.content);
  const replies = Object.entries(operation.responses).map(([status, reply]) => {
    const { description, content } = resolve<ReplyObject>(document, reply);
    return {
      status,
      description,
      contents: typed(content),
    };
  });
  const good = replies.find(({ status }) => status === "200")?.contents ?? [];
  return {
    id: toId(document, { api, path, method, operation }),
    api,
    method,
    path,
    tag,
    summary: operation.summary ?? path,
    description: operation.description ?? "",
    scope: operation["x-scope"],
    isPreview: operation["x-preview"] === true,
    isDeprecated: operation.deprecated === true,
    isStream: good.length > 0 && good.every(isEvents),
    canStream: good.some(isEvents) && !good.every(isEvents),
    parameters: (operation.parameters ?? []).map((one) => resolve<Parameter>(document, one)),
    body,
    replies,
  };
}

const typed = (content: Readonly<Record<string, Content>> = {}) =>
  Object.entries(content).map(([type, inner]) => ({ type, ...inner }));

const isEvents = ({ type }: { readonly type: string }) => type === "text/event-stream";

/** `#chat`: the first of a tag of the gateway is called by it; all others by their own name. */
function toId(document: OpenApi, { api, operation }: Found): string {
  const [tag] = operation.tags ?? [];
  const ofTag = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ tags }) => tags?.[0] === tag);
  const isFirst = api === "gateway" && tag !== undefined && ofTag[0] === operation;
  return isFirst ? tag.toLowerCase() : operation.operationId;
}
