import type { GatewayAccess } from "./gateway-access.ts";

/** What the gateway said no to, or why it could not be asked. */
export class GatewayProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** How long to wait before it is tried again, where the gateway says so. */
  readonly waitMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(options: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly waitMs?: number | undefined;
    readonly requestId?: string | undefined;
  }) {
    super(options.message);
    this.name = "GatewayProblem";
    this.status = options.status;
    this.code = options.code;
    this.waitMs = options.waitMs;
    this.requestId = options.requestId;
  }
}

interface GatewayCall {
  readonly path: string;
  /** With one it is a POST. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A call as any client makes it. Rejects with a GatewayProblem unless the reply is good. */
export async function callGateway(access: GatewayAccess, call: GatewayCall): Promise<Response> {
  const first = await send(access, call);
  if (first.status !== 401) return checked(first);
  access.forget();
  return checked(await send(access, call));
}

async function send(access: GatewayAccess, { path, body, signal }: GatewayCall): Promise<Response> {
  const { key, baseUrl } = await access.grant();
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(`${baseUrl}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers,
      credentials: "omit",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new GatewayProblem({
      status: 0,
      code: "unreachable",
      message: `Cannot reach the gateway at ${baseUrl}. Check that it is running and that SVC_CORS_ORIGINS allows this page.`,
    });
  }
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const reply: unknown = await response.json().catch(() => undefined);
  throw toProblem(reply, response);
}

/** The error of a reply, or of an event in a stream. */
export function toProblem(
  reply: unknown,
  { status, headers }: Pick<Response, "status" | "headers">,
): GatewayProblem {
  const error = isRecord(reply) && isRecord(reply["error"]) ? reply["error"] : {};
  const { code, message } = error;
  return new GatewayProblem({
    status,
    code: typeof code === "string" ? code : String(status),
    message: typeof message === "string" ? message : `The gateway returned an error (${status}).`,
    waitMs: waitOf(headers),
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

function waitOf(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms)) return ms;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
