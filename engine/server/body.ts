import { EngineError } from "../contract.ts";

export type Body = Readonly<Record<string, unknown>>;

/** A request's body. The gateway has checked it; another client may send anything. */
export async function readBody(request: Request): Promise<Body> {
  const type = request.headers.get("content-type") ?? "";
  if (type.startsWith("multipart/form-data")) return readForm(request);
  const body: unknown = await request.json().catch(() => undefined);
  if (!isRecord(body)) throw new EngineError({ message: "The body must be a JSON object." });
  return body;
}

/** Of fields with one name, the last counts: the recognizer has no lists. */
async function readForm(request: Request): Promise<Body> {
  const form = await request.formData().catch(() => undefined);
  if (form === undefined) throw new EngineError({ message: "The body must be a form." });
  return Object.fromEntries(form.entries());
}

export function isRecord(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface NumberRange {
  readonly minimum: number;
  readonly maximum: number;
  readonly whole?: true;
}

/** A number of the body, or undefined where none was given. */
export function numberIn(
  body: Body,
  name: string,
  { minimum, maximum, whole }: NumberRange,
): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  const isGood =
    typeof value === "number" &&
    value >= minimum &&
    value <= maximum &&
    (whole === undefined || Number.isInteger(value));
  if (isGood) return value;
  const kind = whole === undefined ? "a number" : "an integer";
  throw new EngineError({
    message: `${name} must be ${kind} from ${minimum} to ${maximum}.`,
    param: name,
  });
}

export function errorReply(error: unknown): Response {
  const known =
    error instanceof EngineError
      ? error
      : new EngineError({ status: 500, code: "engine_failed", message: String(error) });
  const { status, code, message, param } = known;
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return Response.json(
    { error: { message, type, param: param ?? null, code } },
    { status, headers: status === 503 ? { "retry-after": "5" } : {} },
  );
}
