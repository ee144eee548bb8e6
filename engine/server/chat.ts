import { type ChatJob, type ChatResult, EngineError } from "../contract.ts";
import { type Body, errorReply, isRecord, numberIn } from "./body.ts";
import { toJsonFormat } from "./json-format.ts";
import type { ModelProcess } from "./model-process.ts";

/** `POST /v1/chat/completions`. A failure before the first token has its own status. */
export async function answerChat(options: {
  readonly model: ModelProcess;
  readonly body: Body;
  readonly signal: AbortSignal;
}): Promise<Response> {
  const { model, body, signal } = options;
  const job = toChatJob(body);
  const identity = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: body["model"],
  };
  if (body["stream"] === true) return streamChat({ model, job, signal, identity });
  let text = "";
  const result = (await model.run(job, signal, (piece) => {
    text += String(piece);
  })) as ChatResult;
  const message = { role: "assistant", content: text };
  return Response.json({
    ...identity,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: result.finishReason }],
    usage: toUsage(result),
  });
}

interface StreamOptions {
  readonly model: ModelProcess;
  readonly job: ChatJob;
  readonly signal: AbortSignal;
  readonly identity: object;
}

async function streamChat({ model, job, signal, identity }: StreamOptions): Promise<Response> {
  const left = new AbortController();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  let send: (text: string) => void = () => {};
  let close = () => {};
  const event = (fields: object) =>
    send(
      `data: ${JSON.stringify({ ...identity, object: "chat.completion.chunk", ...fields })}\n\n`,
    );
  const chunk = (delta: object, finish: string | null = null) =>
    event({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  // At most a context's length of text can wait here for a slow reader.
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (text) => controller.enqueue(encoder.encode(text));
      close = () => controller.close();
    },
    cancel: () => left.abort(new Error("the caller disconnected")),
  });
  let isFirst = true;
  const result = model
    .run(job, AbortSignal.any([signal, left.signal]), (piece) => {
      chunk(isFirst ? { role: "assistant", content: piece } : { content: piece });
      isFirst = false;
      begin();
    })
    .then((value) => value as ChatResult);
  await Promise.race([begun, result]);
  void result
    .then(
      (ended) => {
        chunk(isFirst ? { role: "assistant", content: "" } : {}, ended.finishReason);
        event({ choices: [], usage: toUsage(ended) });
        send("data: [DONE]\n\n");
        close();
      },
      async (error: unknown) => {
        if (left.signal.aborted || signal.aborted) return;
        send(`data: ${JSON.stringify(await errorReply(error).json())}\n\n`);
        close();
      },
    )
    // The reader may have left in the very moment: there is nobody to tell.
    .catch(() => {});
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

function toUsage({ promptTokens, completionTokens }: ChatResult) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

export function toChatJob(body: Body): ChatJob {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    throw new EngineError({
      message: "messages must be a list of at least one message.",
      param: "messages",
    });
  if ((numberIn(body, "n", { minimum: 1, maximum: 128, whole: true }) ?? 1) > 1)
    throw new EngineError({ message: "n must be 1 for this model.", param: "n" });
  const choice = body["tool_choice"];
  if (choice === "required" || isRecord(choice))
    throw new EngineError({
      message: "tool_choice must be auto or none. This model does not support tools.",
      param: "tool_choice",
    });
  const most = Number.MAX_SAFE_INTEGER;
  const maxTokens =
    numberIn(body, "max_completion_tokens", { minimum: 1, maximum: most, whole: true }) ??
    numberIn(body, "max_tokens", { minimum: 1, maximum: most, whole: true });
  const temperature = numberIn(body, "temperature", { minimum: 0, maximum: 2 });
  const topP = numberIn(body, "top_p", { minimum: 0, maximum: 1 });
  const seed = numberIn(body, "seed", { minimum: -most, maximum: most, whole: true });
  const json = toJsonFormat(body["response_format"]);
  return {
    messages: messages.map(toMessage),
    stop: toStop(body["stop"]),
    frequencyPenalty: numberIn(body, "frequency_penalty", { minimum: -2, maximum: 2 }) ?? 0,
    presencePenalty: numberIn(body, "presence_penalty", { minimum: -2, maximum: 2 }) ?? 0,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    // The sampler takes 32 bits.
    ...(seed === undefined ? {} : { seed: ((seed % 2 ** 32) + 2 ** 32) % 2 ** 32 }),
    ...(json === undefined ? {} : { json }),
  };
}

function toMessage(value: unknown, at: number): ChatJob["messages"][number] {
  const message = isRecord(value) ? value : {};
  const text = toText(message["content"], at);
  switch (message["role"]) {
    case "system":
    case "developer":
      return { role: "system", text };
    case "user":
      return { role: "user", text };
    case "assistant":
      return { role: "assistant", text };
    case "tool":
      return { role: "user", text: `Result of the tool: ${text}` };
    default:
      throw new EngineError({
        message: `messages[${at}].role must be system, user or assistant.`,
        param: `messages[${at}].role`,
      });
  }
}

function toText(content: unknown, at: number): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [undefined];
  return parts
    .map((part: unknown) => {
      if (isRecord(part) && part["type"] === "text" && typeof part["text"] === "string")
        return part["text"];
      throw new EngineError({
        message: `messages[${at}].content must contain only text. This model does not support other content.`,
        param: `messages[${at}].content`,
      });
    })
    .join("\n");
}

function toStop(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const words: unknown[] = Array.isArray(value) ? value : [value];
  return words.map((word) => {
    if (typeof word === "string" && word !== "") return word;
    throw new EngineError({
      message: "stop must be a string or a list of strings.",
      param: "stop",
    });
  });
}
