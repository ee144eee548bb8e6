import { GatewayProblem, isRecord, toProblem } from "../gateway/gateway-call.ts";

export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** What one event of a streamed answer adds. */
export interface ChatPart {
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: string | undefined;
  readonly usage: ChatUsage | undefined;
}

/** The parts of a streamed answer. An answer that breaks off is a problem, never a short answer. */
export async function* readChat(response: Response): AsyncGenerator<ChatPart> {
  if (response.body === null) throw brokenOff(response);
  for await (const data of readEvents(response.body)) {
    if (data === "[DONE]") return;
    const event: unknown = JSON.parse(data);
    if (isRecord(event) && event["error"] !== undefined) throw toProblem(event, response);
    yield toPart(event);
  }
  throw brokenOff(response);
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

function toPart(event: unknown): ChatPart {
  const fields = isRecord(event) ? event : {};
  const choices = Array.isArray(fields["choices"]) ? fields["choices"] : [];
  const choice: unknown = choices[0];
  const delta = isRecord(choice) && isRecord(choice["delta"]) ? choice["delta"] : {};
  const finish = isRecord(choice) ? choice["finish_reason"] : undefined;
  return {
    text: textOf(delta["content"]) + textOf(delta["refusal"]),
    reasoning: textOf(delta["reasoning_content"] ?? delta["reasoning"]),
    finishReason: typeof finish === "string" ? finish : undefined,
    usage: toUsage(fields["usage"]),
  };
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function toUsage(value: unknown): ChatUsage | undefined {
  if (!isRecord(value)) return undefined;
  const { prompt_tokens, completion_tokens } = value;
  if (typeof prompt_tokens !== "number" || typeof completion_tokens !== "number") return undefined;
  return { prompt_tokens, completion_tokens };
}
