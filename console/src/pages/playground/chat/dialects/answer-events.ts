import { GatewayProblem, isRecord, toProblem } from "../../gateway/gateway-call.ts";

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** What one event of a streamed answer adds. */
export interface ChatPart {
  readonly text?: string;
  readonly reasoning?: string;
  readonly finishReason?: string | undefined;
  readonly usage?: ChatUsage | undefined;
  /** Nothing follows it. */
  readonly isLast?: boolean;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Reads the events of one answer, in their order. */
export type EventReader = (event: Fields) => ChatPart;

/** The parts of a streamed answer. An answer that breaks off is a problem, never a short answer. */
export async function* readAnswer(response: Response, read: EventReader): AsyncGenerator<ChatPart> {
  if (response.body === null) throw brokenOff(response);
  for await (const data of readEvents(response.body)) {
    if (data === "[DONE]") {
      yield { isLast: true };
      return;
    }
    const event = fieldsOf(JSON.parse(data));
    const error = errorIn(event);
    if (error !== undefined) throw toProblem({ error }, response);
    const part = read(event);
    yield part;
    if (part.isLast === true) return;
  }
  throw brokenOff(response);
}

/** Chat Completions and Messages have an `error`; Responses fail with an event of its own. */
function errorIn(event: Fields): unknown {
  if (isRecord(event["error"])) return event["error"];
  if (event["type"] === "error") return event;
  return event["type"] === "response.failed" ? fieldsOf(event["response"])["error"] : undefined;
}

function brokenOff({ headers }: Response): GatewayProblem {
  return new GatewayProblem({
    status: 0,
    code: "broken",
    message: "The reply ended unexpectedly.",
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
    }
  } finally {
    // Who stops reading hangs up, and the gateway stops the model.
    await reader.cancel().catch(() => undefined);
  }
}

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
export const textOf = (value: unknown) => (typeof value === "string" ? value : "");
export const countOf = (value: unknown) => (typeof value === "number" ? value : undefined);

/** Undefined unless both are known. */
export function usageOf(input: unknown, output: unknown): ChatUsage | undefined {
  const prompt_tokens = countOf(input);
  const completion_tokens = countOf(output);
  return prompt_tokens === undefined || completion_tokens === undefined
    ? undefined
    : { prompt_tokens, completion_tokens };
}
