import { Problem } from "../../base/problem.ts";
import { withoutPassword } from "../../base/text/passwords.ts";
import type { TemporaryKeyView } from "../../platform/gateway/operations.ts";
import type { ModelView } from "../../platform/models/schemas.ts";
import type { Operations } from "../../platform/operations.ts";
import type { Command, Invocation, Wiring } from "../command.ts";
import { ProgressLine } from "../terminal/progress-line.ts";
import { addressForTools, type PinnedTls, pinnedTls, unreachable } from "./own-certificate.ts";

/** The flags of every command that calls the gateway. */
export const callFlags = {
  model: { about: "model to call (svc model list shows them)", value: "ID" },
  account: {
    about: 'id or name of the account that pays (default: "default", or the only account)',
    value: "ID",
  },
  key: { about: "API key to use (default: a temporary key)", value: "KEY" },
  url: { about: "address of another gateway; requires --key", value: "URL" },
  curl: { about: "print the equivalent curl command instead of calling the model" },
} as const;

/** The gateway that a command calls, as any client would. */
export interface Gateway {
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** Called before each request: a temporary key is renewed before it expires. */
  readonly key: () => Promise<string>;
  /** The models it serves; undefined for another gateway, whose list has only names. */
  readonly models: readonly ModelView[] | undefined;
  /** How its certificate is checked; undefined: as that of any server. */
  readonly tls?: PinnedTls | undefined;
}

/** Finds the running gateway and a key for it. Nothing is called yet. */
export async function openGateway({
  flags,
  switches,
  wiring,
}: Pick<Invocation, "flags" | "switches" | "wiring">): Promise<Gateway> {
  const { key, url, account } = flags;
  const isCurl = switches.has("curl");
  if (account !== undefined && key !== undefined)
    throw new Problem({
      code: "invalid",
      field: "account",
      message: "Use either --account or --key. The key already determines the account.",
    });
  if (url !== undefined) {
    if (key === undefined && !isCurl)
      throw new Problem({
        code: "invalid",
        field: "key",
        message: "--url requires --key. Temporary keys work only on the local gateway.",
      });
    const baseUrl = toBaseUrl(url);
    return { baseUrl, key: async () => key ?? "", models: undefined };
  }
  const { settings } = wiring.configuration();
  return wiring.withOperations(async (operations) => {
    if (key !== undefined || isCurl) {
      const { base_url: local } = await operations.gateway.show({});
      const baseUrl = isCurl ? addressForTools(settings, local) : local;
      const models = await servedModels(operations);
      return { baseUrl, key: async () => key ?? "", models, tls: pinnedTls(settings) };
    }
    const input = account === undefined ? {} : { account };
    const first = await operations.gateway.createTemporaryKey(input);
    return {
      baseUrl: first.base_url,
      key: renewedKey({ first, wiring, input }),
      models: await servedModels(operations, flags["model"]),
      tls: pinnedTls(settings),
    };
  });
}

/** Callers only learn that a model is not available to them; the operator learns why. */
async function servedModels(operations: Operations, named?: string): Promise<readonly ModelView[]> {
  const models = await operations.models.list({});
  const model = models.find(({ id }) => id === named);
  if (named !== undefined && model === undefined)
    throw new Problem({
      code: "not_found",
      message: `Model "${named}" does not exist.`,
      command: "model list",
    });
  if (model !== undefined && !model.served && model.status !== "retired") throw notServed(model);
  return models.filter(({ served }) => served);
}

function notServed({ id, price, routes }: ModelView): Problem {
  if (routes.length === 0)
    return new Problem({
      code: "failed",
      message: `Model "${id}" has no route, so it is not served. Add one.`,
      command: `model route add ${id} PROVIDER MODEL`,
    });
  return price === null
    ? new Problem({
        code: "failed",
        message: `Model "${id}" has no price, so it is not served. Set one.`,
        command: `price set ${id} --help`,
      })
    : new Problem({
        code: "failed",
        message: `Model "${id}" is not served, because none of its routes can be used.`,
        command: "model list",
      });
}

/** Loading a model can take as long as a key lives. */
const renewBeforeMs = 5 * 60_000;

function renewedKey(options: {
  readonly first: TemporaryKeyView;
  readonly wiring: Wiring;
  readonly input: { account?: string };
}): () => Promise<string> {
  const { first, wiring, input } = options;
  let current = first;
  return async () => {
    if (Date.parse(current.expires_at) - Date.now() < renewBeforeMs)
      current = await wiring.withOperations((operations) =>
        operations.gateway.createTemporaryKey(input),
      );
    return current.key;
  };
}

export function toBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Problem({
      code: "invalid",
      field: "url",
      message: `Expected an address such as http://127.0.0.1:8080/v1, not "${withoutPassword(text)}".`,
    });
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? "/v1" : path}`;
}

export interface WantedModel {
  readonly endpoint: ModelView["endpoint"];
  readonly input: ModelView["input"];
  /** Preferred over all others of its kind. */
  readonly preferred: string;
}

/** The commands that call them, by endpoint. */
const commandsFor = {
  chat: "chat",
  embeddings: "embed",
  speech: "say",
  transcription: "transcribe",
} as const;

/** The model to call: the named one, otherwise the usual one. */
export async function chooseModel(options: {
  readonly gateway: Gateway;
  readonly wanted: WantedModel;
  readonly named: string | undefined;
  /** Absent: nothing may be called. */
  readonly signal?: AbortSignal;
}): Promise<string> {
  const { gateway, wanted, named, signal } = options;
  const { models } = gateway;
  if (named !== undefined) {
    const endpoint = models?.find(({ id }) => id === named)?.endpoint ?? wanted.endpoint;
    if (endpoint === wanted.endpoint) return named;
    throw new Problem({
      code: "invalid",
      field: "model",
      message: `${named} is not available for svc ${commandsFor[wanted.endpoint]}. Use svc ${commandsFor[endpoint]}.`,
    });
  }
  // The models that this key may call; our own list adds their endpoints.
  const listed = signal === undefined ? undefined : await listedModels(gateway, signal);
  if (models === undefined) {
    if (listed === undefined || listed.includes(wanted.preferred)) return wanted.preferred;
    throw new Problem({
      code: "invalid",
      field: "model",
      message:
        listed.length === 0
          ? "This key cannot use any model."
          : `Choose a model: ${listed.join(", ")}.`,
    });
  }
  const fitting = models.filter(
    ({ id, endpoint, input }) =>
      endpoint === wanted.endpoint &&
      input === wanted.input &&
      (listed === undefined || listed.includes(id)),
  );
  const found =
    fitting.find(({ id }) => id === wanted.preferred) ??
    fitting.find(({ status }) => status === "active") ??
    fitting[0];
  if (found === undefined)
    throw new Problem({
      code: "not_found",
      message: `No ${wanted.input === "media" ? "image and video " : ""}${wanted.endpoint} model is available.`,
      command: "model list",
    });
  return found.id;
}

async function listedModels(gateway: Gateway, signal: AbortSignal): Promise<readonly string[]> {
  const response = await send({ gateway, path: "/models", signal });
  if (!response.ok)
    throw toProblem({ failure: await readFailure(response, gateway), gateway, response });
  const { data } = (await readJson(response, signal)) as { data?: readonly { id?: unknown }[] };
  return (data ?? []).map(({ id }) => String(id));
}

export interface GatewayCall {
  readonly gateway: Gateway;
  /** Below /v1. */
  readonly path: string;
  /** JSON, or a form with a file. */
  readonly body: string | FormData;
  /** The flags that its fields come from. */
  readonly flags: Command["flags"];
  readonly signal: AbortSignal;
}

export interface GatewayReply {
  readonly response: Response;
  /** When the request that was answered went out; on the clock of `performance`. */
  readonly startedMs: number;
}

const maxLoadingMs = 15 * 60_000;

/** Posts. Waits for a model that is loading; any other error is a Problem. */
export async function callGateway(call: GatewayCall): Promise<GatewayReply> {
  const { gateway, flags, signal } = call;
  const progress = new ProgressLine();
  const endMs = performance.now() + maxLoadingMs;
  try {
    for (;;) {
      const startedMs = performance.now();
      const response = await send(call);
      if (response.ok) return { response, startedMs };
      const failure = await readFailure(response, gateway);
      const { code, message } = failure;
      const waitMs = retryAfterMs(response.headers);
      if (code !== "model_loading" || performance.now() + waitMs > endMs)
        throw toProblem({ failure, gateway, response, flags });
      progress.show(message);
      await pause(waitMs, signal);
    }
  } finally {
    progress.clear();
  }
}

function toProblem(options: {
  readonly failure: Failure;
  readonly gateway: Gateway;
  readonly response: Response;
  readonly flags?: Command["flags"];
}): Problem {
  const { failure, gateway, response, flags = {} } = options;
  const { code, param, message } = failure;
  if (code === "invalid_api_key")
    return new Problem({
      code: "failed",
      message: "Incorrect API key provided. Pass a valid key with --key.",
    });
  if (response.status === 400 && Object.hasOwn(flags, param.replaceAll("_", "-")))
    return new Problem({ code: "invalid", field: param, message });
  return new Problem({
    code: code === "model_not_allowed" || code === "model_not_found" ? "not_found" : "failed",
    message,
    command: whereToLook({ gateway, response, code }),
  });
}

/** Callers do not see upstream errors; the operator can look them up. */
function whereToLook(options: {
  readonly gateway: Gateway;
  readonly response: Response;
  readonly code: unknown;
}): string | undefined {
  const { gateway, response, code } = options;
  if (gateway.models === undefined) return undefined;
  if (code === "model_not_allowed") return "model list";
  const id = response.headers.get("x-request-id");
  const isBehind = response.status >= 500 || code === "upstream_rate_limited";
  return id === null || !isBehind ? undefined : `receipt ${id}`;
}

/** Longer than the gateway's own limit, for a gateway that stops responding. */
const maxCallMs = 60 * 60_000;

async function send(
  options: Omit<GatewayCall, "body" | "flags"> & { readonly body?: string | FormData },
) {
  const { gateway, path, body, signal } = options;
  const headers = {
    authorization: `Bearer ${await gateway.key()}`,
    ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
  };
  try {
    return await fetch(`${gateway.baseUrl}${path}`, {
      ...(body === undefined ? {} : { method: "POST", body }),
      headers,
      redirect: "manual",
      ...(gateway.tls === undefined ? {} : { tls: gateway.tls }),
      // The runtime's own limit is shorter than a slow model's silence.
      timeout: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(maxCallMs)]),
    });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw unreachable({ gateway, cause, reason: said(cause) });
  }
}

/** The bytes of a reply as they arrive; a reply that ends early is a Problem. */
export async function* bytesOf(response: Response, signal: AbortSignal) {
  try {
    for await (const bytes of response.body ?? []) yield bytes;
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Problem({ code: "failed", message: `The reply ended early: ${said(cause)}`, cause });
  }
}

export async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Problem({
      code: "failed",
      message: `The reply is incomplete or not JSON: ${said(cause)}`,
      cause,
    });
  }
}

interface Failure {
  readonly code: unknown;
  /** The field of the request that is wrong, or "". */
  readonly param: string;
  readonly message: string;
}

/** The gateway's error, or a message about another reply. */
async function readFailure(response: Response, { baseUrl }: Gateway): Promise<Failure> {
  const body: unknown = await response.json().catch(() => undefined);
  return (
    errorIn(body) ?? {
      code: undefined,
      param: "",
      message: `${baseUrl} returned ${response.status} without an API error. Check that the address is a gateway.`,
    }
  );
}

/** The error in a reply or in an event of a stream, if it is one. */
export function errorIn(value: unknown): Failure | undefined {
  if (typeof value !== "object" || value === null || !("error" in value)) return undefined;
  const { error } = value;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  const { code, param, message } = error as Partial<Record<keyof Failure, unknown>>;
  return { code, param: typeof param === "string" ? param : "", message: String(message) };
}

function retryAfterMs(headers: Headers): number {
  const asked = Number(
    headers.get("retry-after-ms") ?? Number(headers.get("retry-after") ?? "1") * 1000,
  );
  return Number.isFinite(asked) ? Math.min(60_000, Math.max(100, asked)) : 1_000;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function said(cause: unknown): string {
  const words = cause instanceof Error ? cause.message : String(cause);
  // The runtime's own words after the code are about its fetch, not about us.
  return /^([A-Z]{4,}|ConnectionRefused|ConnectionClosed)\b/.exec(words)?.[1] ?? words;
}
