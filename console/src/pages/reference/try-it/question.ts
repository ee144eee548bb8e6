import type { Endpoint } from "../document.ts";
import type { Question } from "./send.ts";

export interface Draft {
  readonly endpoint: Endpoint;
  readonly baseUrl: string;
  /** Of the parameters, by their names; empty ones are not sent. */
  readonly values: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
  readonly key: string;
}

/** What would be sent, or what is still missing, in words. */
export function toQuestion(draft: Draft): Omit<Question, "signal"> | string {
  const { endpoint, baseUrl, values, body, key } = draft;
  const missing = endpoint.parameters.find(
    ({ name, required }) => required === true && (values[name] ?? "") === "",
  );
  if (missing !== undefined) return `Fill in ${missing.name} first.`;
  if (endpoint.api === "gateway" && key === "") return "Paste or create a key first.";
  if (typeof body === "string" && !isJson(body)) return "The body is not valid JSON.";
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ""),
  );
  const search = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place } of endpoint.parameters) {
    const value = values[name] ?? "";
    if (value === "") continue;
    if (place === "query") search.append(name, value);
    if (place === "header") headers[name] = value;
  }
  if (endpoint.api === "gateway") headers["authorization"] = `Bearer ${key}`;
  // The browser names the type of a form itself, with its boundary.
  if (typeof body === "string") headers["content-type"] = "application/json";
  const url = `${baseUrl}${path}${search.size === 0 ? "" : `?${search}`}`;
  return { method: endpoint.method, url, headers, body };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The same body for another model, with everything else as it is written. */
export function withModel(body: string, model: string): string {
  const fields = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return JSON.stringify({ ...fields, model }, null, 2);
}
