import { Problem } from "../../base/problem.ts";
import type { TemporaryKeyView } from "../../platform/gateway/operations.ts";
import type { ModelView } from "../../platform/models/schemas.ts";
import type { Operations } from "../../platform/operations.ts";
import type { Invocation, Wiring } from "../command.ts";
import { ProgressLine } from "../terminal/progress-line.ts";

/** The flags of every command that calls the gateway. */
export const callFlags = {
  model: { about: "the model to call (svc model list shows them)", value: "ID" },
  account: {
    about: "id or name of the account that pays (default: default, or the only one)",
    value: "ID",
  },
  key: { about: "an API key to call with (default: a temporary one)", value: "KEY" },
  url: { about: "another gateway's address; needs --key", value: "URL" },
  curl: { about: "print the curl command that does the same, and do not call" },
} as const;

/** The gateway that a command calls, as any client would. */
export interface Gateway {
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** Asked before each request: a temporary key is renewed before it ends. */
  readonly key: () => Promise<string>;
  /** What it serves; undefined for another gateway, whose own list has the names alone. */
  readonly models: readonly ModelView[] | undefined;
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
      message: "The key already determines the account that pays. Give one of the two.",
    });
  if (url !== undefined) {
    if (key === undefined && !isCurl)
      throw new Problem({
        code: "invalid",
        field: "key",
        message: "Another gateway needs an API key: temporary keys are for the gateway here.",
      });
    const baseUrl = toBaseUrl(url);
    return { baseUrl, key: async () => key ?? "", models: undefined };
  }
  return wiring.withOperations(async (operations) => {
    if (key !== undefined || isCurl) {
      const { base_url: baseUrl } = await operations.gateway.show({});
      return { baseUrl, key: async () => key ?? "", models: await servedModels(operations) };
    }
    const input = account === undefined ? {} : { account };
    const first = await operations.gateway.createTemporaryKey(input);
    return {
      baseUrl: first.base_url,
      key: renewedKey({ first, wiring, input }),
      models: await servedModels(operations),
    };
  });
}

async function servedModels(operations: Operations): Promise<readonly ModelView[]> {
  return (await operations.models.list({})).filter(({ served }) => served);
}

/** A model that loads may keep a command waiting for as long as a key lives. */
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

function toBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Problem({
      code: "invalid",
      field: "url",
      message: `The URL must be an address such as http://127.0.0.1:8080/v1, not "${text}".`,
    });
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? "/v1" : path}`;
}

export interface WantedModel {
  readonly endpoint: ModelView["endpoint"];
  readonly input: ModelView["input"];
  /** Taken before all others of its kind. */
  readonly preferred: string;
}

/** The model to call where none was named. */
export async function usualModel(options: {
  readonly gateway: Gateway;
  readonly wanted: WantedModel;
  /** Absent: nothing may be called. */
  readonly signal?: AbortSignal;
}): Promise<string> {
  const { gateway, wanted, signal } = options;
  const { models } = gateway;
  // What this key may call; our own list adds what each model is for.
  const listed = signal === undefined ? undefined : await listedModels(gateway, signal);
  if (models === undefined) {
    if (listed === undefined || listed.includes(wanted.preferred)) return wanted.preferred;
    throw new Problem({
      code: "invalid",
      field: "model",
      message: `Choose a model: ${listed.join(", ") || "none"}.`,
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
      message: `No model for ${wanted.endpoint}${wanted.input === "media" ? " of images and videos" : ""} is served.`,
      command: "model list",
    });
  return found.id;
}

async function listedModels(gateway: Gateway, signal: AbortSignal): Promise<readonly string[]> {
  const response = await send({ gateway, path: "/models", signal });
  if (!response.ok)
    throw new Problem({ code: "failed", message: (await readFailure(response, gateway)).message });
  const { data } = (await readJson(response, signal)) as { data?: readonly { id?: unknown }[] };
  return (data ?? []).map(({ id }) => String(id));
}

export interface GatewayCall {
  readonly gateway: Gateway;
  /** Below /v1. */
  readonly path: string;
  /** JSON. */
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface GatewayReply {
  readonly response: Response;
  /** When the request that was answered went out; on the clock of `performance`. */
  readonly startedMs: number;
}

const maxLoadingMs = 15 * 60_000;

/** Posts JSON. A model that is still loading is waited for; any other refusal is a Problem. */
export async function callGateway(call: GatewayCall): Promise<GatewayReply> {
  const { gateway, signal } = call;
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
        throw new Problem({
          code: "failed",
          message,
          command: whereToLook({ gateway, response, code }),
        });
      progress.show(message);
      await pause(waitMs, signal);
    }
  } finally {
    progress.clear();
  }
}

/** Callers do not learn what went wrong behind the gateway; the operator can look it up. */
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

/** Longer than the gateway itself allows a call: this is for a gateway that has gone silent. */
const maxCallMs = 60 * 60_000;

async function send(options: Omit<GatewayCall, "body"> & { readonly body?: string }) {
  const { gateway, path, body, signal } = options;
  const headers = {
    authorization: `Bearer ${await gateway.key()}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  try {
    return await fetch(`${gateway.baseUrl}${path}`, {
      ...(body === undefined ? {} : { method: "POST", body }),
      headers,
      redirect: "manual",
      // The runtime's own limit is shorter than a slow model's silence.
      timeout: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(maxCallMs)]),
    });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Problem({
      code: "failed",
      message: `The gateway at ${gateway.baseUrl} cannot be reached: ${said(cause)}`,
      cause,
    });
  }
}

/** The bytes of a reply as they come; a reply that breaks off is a Problem. */
export async function* bytesOf(response: Response, signal: AbortSignal) {
  try {
    for await (const bytes of response.body ?? []) yield bytes;
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Problem({ code: "failed", message: `The reply broke off: ${said(cause)}`, cause });
  }
}

export async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new Problem({
      code: "failed",
      message: `The reply broke off or is not JSON: ${said(cause)}`,
      cause,
    });
  }
}

/** The gateway's own words, or what came instead of them. */
async function readFailure(response: Response, { baseUrl }: Gateway) {
  const body: unknown = await response.json().catch(() => undefined);
  return (
    errorIn(body) ?? {
      code: undefined,
      message: `${baseUrl} answered ${response.status}, and not as a gateway does. Is the address right?`,
    }
  );
}

/** The error in a reply or in an event of a stream, if it is one. */
export function errorIn(
  value: unknown,
): { readonly code: unknown; readonly message: string } | undefined {
  if (typeof value !== "object" || value === null || !("error" in value)) return undefined;
  const { error } = value;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return { code: "code" in error ? error.code : undefined, message: String(error.message) };
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
