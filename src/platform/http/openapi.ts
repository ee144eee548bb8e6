import type { Route } from "./route.ts";
import { accesses, bodyTypeOf } from "./route.ts";

type Json = Readonly<Record<string, unknown>>;

const whoMay: Readonly<Record<(typeof accesses)[number], string>> = {
  anyone: "Public.",
  person: "Requires a signed-in user; applies to that user.",
  viewer: "Requires the viewer role or higher in the account.",
  developer: "Requires the developer role or higher in the account.",
  owner: "Requires the owner role in the account.",
  operator: "Requires an operator.",
};

/** The OpenAPI document of the platform API, generated from the route table. */
export function toPlatformOpenApi(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const [method = "", path = ""] = route.name.split(" ");
    const place = path.replaceAll(/:(\w+)/g, "{$1}");
    paths[place] = { ...paths[place], [method.toLowerCase()]: toOperation(route, path) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "svc gateway: platform API",
      version,
      description:
        "Accounts, keys, usage, billing and administration. Users sign in and get a cookie; browsers must also send the `binding` from the sign-in reply as `x-svc-session`. Programs send a platform token as `Authorization: Bearer`. Errors have the form `{ error: { code, message, field? } }`.",
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      securitySchemes: {
        session: { type: "apiKey", in: "cookie", name: "svc_session" },
        token: { type: "http", scheme: "bearer" },
      },
      schemas: { Error: errorSchema },
    },
  };
}

const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        field: { type: "string", description: "The invalid field, if the error is about one." },
      },
    },
  },
};

function toOperation(route: Route, path: string): Json {
  const { access, area } = route;
  const isRead = route.name.startsWith("GET ");
  const scope = area === undefined ? undefined : `${area}:${isRead ? "read" : "write"}`;
  const tokens =
    access === "anyone"
      ? ""
      : scope === undefined
        ? " Not available to tokens."
        : ` Tokens need the scope \`${scope}\`.`;
  const proof = toProof(route);
  return {
    operationId: toOperationId(route.name),
    tags: [area ?? (access === "anyone" ? "public" : "people")],
    summary: route.about,
    description: `${whoMay[access]}${tokens}${proof === undefined ? "" : ` ${proof}`}`,
    "x-access": access,
    ...(scope === undefined ? {} : { "x-scope": scope }),
    security:
      access === "anyone"
        ? [{}]
        : [{ session: [] }, ...(scope === undefined ? [] : [{ token: [] }])],
    parameters: [...pathParameters(path), ...queryParameters(route)],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { [bodyTypeOf(route)]: { schema: route.body } } },
        }),
    responses: {
      "200": {
        description: "Success.",
        content:
          route.reply === undefined
            ? { [route.contentType ?? "application/octet-stream"]: { schema: { type: "string" } } }
            : { "application/json": { schema: route.reply } },
      },
      ...(proof === undefined
        ? {}
        : {
            "403": {
              ...failed,
              description:
                "Not allowed; or `verification_required`: send a proof to `POST /api/me/verify`, then repeat the request.",
            },
          }),
      default: { ...failed, description: "Error." },
    },
  };
}

const failed = {
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/** Undefined if the route never needs a proof. */
function toProof({ needsRecent, needsRecentFor }: Route): string | undefined {
  if (needsRecent !== true && needsRecentFor === undefined) return undefined;
  const when = needsRecentFor === undefined ? "" : ` if ${needsRecentFor.when}`;
  return `Users must have proved within ten minutes who they are${when}: \`POST /api/me/verify\`.`;
}

/** `GET /api/accounts/:account/keys` is getAccountsKeys, in words that no two share. */
function toOperationId(name: string): string {
  const [method = "", path = ""] = name.split(" ");
  const words = path
    .split("/")
    .slice(2)
    .map((step) => (step.startsWith(":") ? `by-${step.slice(1)}` : step))
    .join("-");
  return `${method.toLowerCase()}-${words}`.replaceAll(/-(\w)/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
}

function pathParameters(path: string): readonly Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: Route): readonly Json[] {
  const properties = query as
    | { properties?: Record<string, Json>; required?: string[] }
    | undefined;
  return Object.entries(properties?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: properties?.required?.includes(name) ?? false,
    schema,
  }));
}
