import type { Static, TSchema } from "typebox";
import type { Params, Route, RouteName } from "../../src/platform/http/route.ts";
import type { Api } from "../../src/platform/routes.ts";
import { browserSession } from "./browser-session.ts";
import { connection } from "./live/connection.ts";

/** Such as `GET /api/accounts/:account/keys`: the platform's own table of routes. */
export type ApiName = keyof Api & RouteName;

type Value<Schema> = Schema extends TSchema ? Static<Schema> : undefined;
type Parts<Name extends ApiName> =
  Api[Name] extends Route<RouteName, infer Query, infer Body, infer Reply>
    ? { readonly query: Value<Query>; readonly body: Value<Body>; readonly reply: Value<Reply> }
    : never;
type Field<Key extends string, Type> = [Type] extends [undefined]
  ? { readonly [Name in Key]?: undefined }
  : object extends Type
    ? { readonly [Name in Key]?: Type }
    : { readonly [Name in Key]: Type };

export type Reply<Name extends ApiName> = Parts<Name>["reply"];
export type Input<Name extends ApiName> = Field<"params", Params<Name>> &
  Field<"query", Parts<Name>["query"]> &
  Field<"body", Parts<Name>["body"]>;
/** The input may be left out where nothing in it is needed. */
export type InputWords<Name extends ApiName> =
  object extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

interface LooseInput {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** A request that failed, with a message that can be shown. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** The field of the form that is meant, if one is. */
  readonly field: string | undefined;

  constructor(options: { status: number; code: string; message: string; field?: string }) {
    super(options.message);
    this.name = "ApiProblem";
    this.status = options.status;
    this.code = options.code;
    this.field = options.field;
  }
}

const timeoutMs = 30_000;
/** These call a vendor, who may take half a minute to say nothing. */
const slowTimeoutMs = 90_000;
const slowRoutes: readonly string[] = [
  "POST /api/providers",
  "PATCH /api/providers/:name",
  "POST /api/providers/:name/keys",
  "PATCH /api/providers/:name/keys/:key",
  "POST /api/providers/:name/test",
  "GET /api/providers/:name/offer",
  "POST /api/providers/:name/models",
] satisfies readonly ApiName[];

/** Their replies have what the browser keeps beside the new session's cookie. */
const entryRoutes: readonly string[] = [
  "POST /api/session",
  "POST /api/session/second-step",
  "POST /api/session/oidc/finish",
  "POST /api/session/passkey",
  "POST /api/invites/accept",
] satisfies readonly ApiName[];

/** Asks the platform; rejects with an ApiProblem, whatever went wrong. */
export async function call<Name extends ApiName>(
  name: Name,
  ...[input]: InputWords<Name>
): Promise<Reply<Name>> {
  return await request(name, input ?? {});
}

/** The address of a route that is read with GET; it opens nothing without the session's headers. */
export function apiUrl<Name extends ApiName>(name: Name, ...[input]: InputWords<Name>): string {
  return toUrl(name, (input ?? {}) as LooseInput);
}

/** As `call`, for one who can change their mind. */
export async function request<Name extends ApiName>(
  name: Name,
  given: object,
  signal?: AbortSignal,
): Promise<Reply<Name>> {
  const timeout = AbortSignal.timeout(slowRoutes.includes(name) ? slowTimeoutMs : timeoutMs);
  const response = await send({
    name,
    input: given as LooseInput,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    if (signal?.aborted === true || error instanceof ApiProblem) throw error;
    throw unreachable(timeout.aborted);
  });
  // The table of routes is the platform's own.
  const reply = (await readJson(response)) as Reply<Name>;
  if (entryRoutes.includes(name)) keepSession(reply as Reply<"POST /api/session">);
  if (name === "DELETE /api/session") browserSession.end();
  return reply;
}

/** A file that a route answers with, however long it takes; whole, or an ApiProblem. */
export async function fetchFile<Name extends ApiName>(
  name: Name,
  ...[input]: InputWords<Name>
): Promise<Blob> {
  try {
    return await (await send({ name, input: (input ?? {}) as LooseInput })).blob();
  } catch (error) {
    throw error instanceof ApiProblem ? error : unreachable(false);
  }
}

/** Not where the second factor is missing: no session has begun, and an earlier one goes on. */
function keepSession(reply: Partial<Reply<"POST /api/session">>): void {
  const { second_factor: missing = null, binding = null, device = null } = reply;
  if (missing === null) browserSession.keep({ binding, device });
}

interface Sending {
  readonly name: ApiName;
  readonly input: LooseInput;
  readonly signal?: AbortSignal;
}

async function send({ name, input, signal }: Sending): Promise<Response> {
  const response = await fetch(toUrl(name, input), {
    method: name.slice(0, name.indexOf(" ")),
    credentials: "same-origin",
    headers: {
      accept: "application/json",
      ...browserSession.headers(),
      ...(entryRoutes.includes(name) ? browserSession.deviceHeaders() : {}),
      ...(input.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(signal === undefined ? {} : { signal }),
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  }).catch((error: unknown) => {
    // Whoever asked may have changed their mind, or lost patience: that says nothing.
    if (signal?.aborted !== true) void connection.check();
    throw error;
  });
  if (isOfProxy(response)) {
    void connection.check();
    throw unreachable(false);
  }
  connection.heard(response);
  if (!response.ok) throw toProblem(response.status, await readJson(response));
  return response;
}

/** While the platform restarts, a proxy in front of it answers in its place. */
function isOfProxy(response: Response): boolean {
  return [502, 503, 504].includes(response.status) && !isJson(response);
}

const isJson = ({ headers }: Response) =>
  headers.get("content-type")?.startsWith("application/json") === true;

function readJson(response: Response): Promise<unknown> {
  return isJson(response) ? response.json().catch(() => undefined) : Promise.resolve(undefined);
}

function toUrl(name: ApiName, { params, query }: LooseInput): string {
  const path = name
    .slice(name.indexOf(" ") + 1)
    .replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(params?.[param] ?? ""));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) search.append(key, String(item));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

function unreachable(isTimeout: boolean): ApiProblem {
  return new ApiProblem({
    status: 0,
    code: isTimeout ? "timeout" : "unreachable",
    message: isTimeout
      ? "The server took too long to respond. Try again."
      : "Cannot reach the server. Check that it is running and that you are online.",
  });
}

function toProblem(status: number, reply: unknown): ApiProblem {
  const error = isRecord(reply) && isRecord(reply["error"]) ? reply["error"] : {};
  const { code, message, field } = error;
  return new ApiProblem({
    status,
    code: typeof code === "string" ? code : String(status),
    message: typeof message === "string" ? message : `The server returned an error (${status}).`,
    ...(typeof field === "string" ? { field } : {}),
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
