import type { Content, Endpoint, OpenApi } from "../document.ts";
import { exampleOf } from "./schema.ts";

export type Body = Readonly<Record<string, unknown>>;

export interface BodyExample {
  readonly label: string;
  readonly body: Body;
}

/** The description's own, each with a model that can be called here; else one made of the schema. */
export function bodyExamples(
  document: OpenApi,
  { body }: Endpoint,
  models: readonly string[],
): readonly BodyExample[] {
  if (body === undefined) return [];
  const { example, schema } = body;
  const named = namedExamples(body);
  const all =
    named.length > 0
      ? named
      : [{ label: "Example", value: example ?? exampleOf(document, schema ?? {}) }];
  return all.map(({ label, value }) => ({ label, body: withCallable(value as Body, models) }));
}

/** Several ones stand under names, each with a summary. */
export const namedExamples = ({ examples = {} }: Content) =>
  Object.entries(examples).map(([name, { summary = name, value }]) => ({ label: summary, value }));

function withCallable(body: Body, models: readonly string[]): Body {
  const [first] = models;
  const isKept =
    first === undefined || !("model" in body) || models.includes(String(body["model"]));
  return isKept ? body : { ...body, model: first };
}

/** What a stream looks like: its events one after another, as they are sent. */
export function eventText(content: Content): string {
  const { example } = content;
  const events = namedExamples(content).map(({ value }) => value);
  if (events.length === 0 && example !== undefined) events.push(example);
  return events.map(toEvent).join("\n\n");
}

function toEvent(event: unknown): string {
  // Written out already.
  if (typeof event === "string") return event.trim();
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : "";
  const isNamed = typeof type === "string" && /^(response|message|content_block)[._]/.test(type);
  return `${isNamed ? `event: ${type}\n` : ""}data: ${JSON.stringify(event, null, 2)}`;
}
