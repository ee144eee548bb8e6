/** Calls to the gateway as a client makes them, timed, with every reply checked. */
export type Gateway = { readonly url: string; readonly key: string };

export type Call = { readonly gateway: Gateway; readonly timeoutMs: number };

/** 503 `model_loading`: not ready yet, and worth another try. */
export class ModelLoading extends Error {}

export type ChatTimes = {
  readonly firstMs: number;
  /** From the first text to the last. */
  readonly decodeMs: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
};

export type SpeechTimes = {
  readonly firstMs: number;
  readonly totalMs: number;
  readonly audioS: number;
};

const pcmBytesPerSecond = 24_000 * 2;

/** Resolves when there is a vector for each input; base64, as OpenAI's own client asks for it. */
export async function embed(options: {
  readonly call: Call;
  readonly model: string;
  readonly input: unknown;
  readonly vectors: number;
}): Promise<void> {
  const { call, model, input, vectors } = options;
  const body = { model, input, encoding_format: "base64" };
  const reply = await post(call, "/v1/embeddings", body);
  const { data } = (await reply.json()) as { readonly data: readonly { embedding: unknown }[] };
  const isWhole = data.every(
    ({ embedding }) => typeof embedding === "string" && embedding.length > 1000,
  );
  if (data.length !== vectors || !isWhole)
    throw new Error(
      `${model}: ${vectors} vectors were expected, ${data.length} came, or not whole`,
    );
}

/** One streamed answer. A seed makes the model begin from nothing, whatever was asked before. */
export async function chat(options: {
  readonly call: Call;
  readonly prompt: string;
  readonly maxTokens: number;
}): Promise<ChatTimes> {
  const startedMs = performance.now();
  const reply = await post(options.call, "/v1/chat/completions", {
    model: "svc-3-flash",
    messages: [{ role: "user", content: options.prompt }],
    max_tokens: options.maxTokens,
    seed: 1,
    stream: true,
    stream_options: { include_usage: true },
  });
  let firstMs: number | undefined;
  let lastMs = startedMs;
  let usage: unknown;
  let isDone = false;
  for await (const data of events(reply)) {
    isDone = data === "[DONE]";
    if (isDone) continue;
    const event: unknown = JSON.parse(data);
    usage = at(event, "usage") ?? usage;
    const text = at(at(at(at(event, "choices"), 0), "delta"), "content");
    if (typeof text !== "string" || text === "") continue;
    lastMs = performance.now();
    firstMs ??= lastMs;
  }
  const [promptTokens, completionTokens] = [
    at(usage, "prompt_tokens"),
    at(usage, "completion_tokens"),
  ];
  if (
    !isDone ||
    firstMs === undefined ||
    typeof promptTokens !== "number" ||
    typeof completionTokens !== "number"
  )
    throw new Error("chat: the stream ended without text, usage or [DONE]");
  return {
    firstMs: firstMs - startedMs,
    decodeMs: lastMs - firstMs,
    promptTokens,
    completionTokens,
  };
}

export async function speak(options: {
  readonly call: Call;
  readonly model: string;
  readonly text: string;
}): Promise<SpeechTimes> {
  const { call, model, text } = options;
  const startedMs = performance.now();
  const body = { model, input: text, voice: "Kore", response_format: "pcm" };
  const reply = await post(call, "/v1/audio/speech", body);
  let firstMs: number | undefined;
  let bytes = 0;
  for await (const chunk of reply.body ?? []) {
    firstMs ??= performance.now() - startedMs;
    bytes += chunk.length;
  }
  const totalMs = performance.now() - startedMs;
  // A word takes more than a tenth of a second to say.
  const leastS = text.split(" ").length * 0.1;
  const audioS = bytes / pcmBytesPerSecond;
  if (firstMs === undefined || audioS < leastS)
    throw new Error(`${model}: ${audioS.toFixed(1)} s of audio are too little for its text`);
  return { firstMs, totalMs, audioS };
}

/** The payloads of an event stream. */
export async function* events(reply: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of reply.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield line.slice("data: ".length);
  }
}

async function post(call: Call, path: string, body: object): Promise<Response> {
  const { gateway, timeoutMs } = call;
  const reply = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (reply.status === 200) return reply;
  const text = await reply.text();
  if (reply.status === 503 && text.includes('"model_loading"')) throw new ModelLoading(text);
  throw new Error(`${path} answered ${reply.status}: ${text.slice(0, 500)}`);
}

function at(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
