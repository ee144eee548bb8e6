import type { Static, TSchema } from "typebox";
import type { Area } from "../../people/role.ts";
import type { RequestContext } from "./context.ts";
import type { View } from "./schemas.ts";

/**
 * Who may call a route: `anyone`; `person`, a signed-in user, for themselves only; a role in the
 * account that the path names; or `operator`, who also has every role of every account.
 */
export const accesses = ["anyone", "person", "viewer", "developer", "owner", "operator"] as const;
export type Access = (typeof accesses)[number];

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** Such as `GET /api/accounts/:account/keys`. */
export type RouteName = `${Method} /api/${string}`;

type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
export type Params<Name extends string> = { readonly [Param in ParamNames<Name>]: string };

type Value<Schema extends TSchema | undefined> = Schema extends TSchema
  ? Static<Schema>
  : undefined;

export interface RouteInput<
  Name extends string,
  Query extends TSchema | undefined,
  Body extends TSchema | undefined,
> {
  readonly params: Params<Name>;
  readonly query: Value<Query>;
  readonly body: Value<Body>;
}

export interface RouteTerms {
  readonly access: Access;
  /** The area that a token needs; without one, tokens are rejected. */
  readonly area?: Area;
  /** True: also for a user who must first set up a second factor. */
  readonly isForSetup?: true;
  /** True: the user must have proved who they are within ten minutes. */
  readonly needsRecent?: true;
}

/** For a route that needs a recent proof only for some request bodies. */
export interface RecentFor<Body> {
  /** The condition as the API reference shows it, after "if". */
  readonly when: string;
  // A method, so that routes with different bodies fit into one table.
  applies(body: Body): boolean;
}

export interface RouteOptions<
  Context,
  Name extends RouteName,
  Query extends TSchema | undefined,
  Body extends TSchema | undefined,
  Reply extends TSchema | undefined,
> {
  /** One sentence, for the reference. */
  readonly about: string;
  readonly query?: Query;
  readonly body?: Body;
  /** True: the body is form-encoded, as in OAuth, and not JSON. */
  readonly isForm?: true;
  /** True: not counted as a change of the caller, because it can only remove things. */
  readonly isUncounted?: true;
  readonly needsRecentFor?: RecentFor<Value<Body>>;
  /** Called before the body is read; throws where the route cannot serve any body now. */
  readonly beforeBody?: (context: Context) => Promise<void>;
  /** What is answered with 200; a handler without one gives a Response of its own. */
  readonly reply?: Reply;
  /** The type of a reply that is not JSON. */
  readonly contentType?: string;
  readonly handle: (
    context: Context,
    input: RouteInput<Name, Query, Body>,
  ) => Promise<Reply extends TSchema ? View<Reply> : Response>;
}

export interface Route<
  Name extends RouteName = RouteName,
  Query extends TSchema | undefined = TSchema | undefined,
  Body extends TSchema | undefined = TSchema | undefined,
  Reply extends TSchema | undefined = TSchema | undefined,
> extends RouteTerms,
    Omit<RouteOptions<never, Name, Query, Body, Reply>, "handle" | "beforeBody"> {
  readonly name: Name;
  beforeBody?(context: RequestContext): Promise<void>;
  /** Called with what the schemas have let through. */
  handle(context: RequestContext, input: RouteInput<Name, Query, Body>): Promise<unknown>;
}

export const bodyTypeOf = ({ isForm }: Pick<Route, "isForm">): string =>
  isForm === true ? "application/x-www-form-urlencoded" : "application/json";

/**
 * A way to declare routes whose handlers get more than the kit's own context. Terms that a table
 * shares are given once.
 */
export function routeFor<Context extends RequestContext, Shared extends keyof RouteTerms = never>(
  shared?: Pick<RouteTerms, Shared>,
) {
  return <
    const Name extends RouteName,
    Query extends TSchema | undefined = undefined,
    Body extends TSchema | undefined = undefined,
    Reply extends TSchema | undefined = undefined,
  >(
    name: Name,
    options: RouteOptions<Context, Name, Query, Body, Reply> & Omit<RouteTerms, Shared>,
  ): Route<Name, Query, Body, Reply> =>
    ({ ...shared, ...options, name }) as Route<Name, Query, Body, Reply>;
}
