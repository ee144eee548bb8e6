import { availableParallelism } from "node:os";
import {
  type ChatHistoryItem,
  getLlama,
  LlamaChat,
  type LlamaGrammar,
  LlamaLogLevel,
} from "node-llama-cpp";
import { type ChatJob, type ChatResult, EngineError, type Model } from "../contract.ts";
import { createPace } from "./pace.ts";

export interface ChatOptions {
  readonly file: string;
  /** At most; the model's own length if it is shorter. */
  readonly contextTokens: number;
  /** Conversations at once; each has a context of its own. */
  readonly parallel: number;
  /** For callers who name none. */
  readonly usualTemperature: number;
  /** A very small model says the same again and again unless it is kept from it. */
  readonly isProneToLoops: boolean;
}

/** Grows with the length of what is said again word for word. */
const loopPenalty = { strength: 0.8, base: 1.75, allowedLength: 3 };

/** Any GGUF chat model, with the template it carries. */
export async function loadChat({
  file,
  contextTokens,
  parallel,
  usualTemperature,
  isProneToLoops,
}: ChatOptions): Promise<Model<ChatJob, string, ChatResult>> {
  const llama = await getLlama({
    build: "never",
    gpu: false,
    skipDownload: true,
    logLevel: LlamaLogLevel.disabled,
  });
  const model = await llama.loadModel({ modelPath: file });
  const pace = createPace(availableParallelism());
  llama.maxThreads = pace.threads;
  const context = await model.createContext({
    sequences: parallel,
    contextSize: Math.min(contextTokens, model.trainContextSize),
    threads: pace.threads,
  });
  const free = Array.from({ length: parallel }, () => {
    const sequence = context.getSequence();
    return { sequence, chat: new LlamaChat({ contextSequence: sequence }) };
  });
  const makeGrammar = llama.createGrammarForJsonSchema.bind(llama) as (
    schema: unknown,
  ) => Promise<LlamaGrammar>;
  const grammars = new Map<string, Promise<LlamaGrammar>>();
  const grammarFor = (format: NonNullable<ChatJob["json"]>): Promise<LlamaGrammar> => {
    const name = JSON.stringify(format);
    const known = grammars.get(name);
    if (known !== undefined) return known;
    // The schema is the caller's: what the library cannot make a grammar of, it refuses.
    const made: Promise<LlamaGrammar> =
      format === "any"
        ? llama.getGrammarFor("json")
        : makeGrammar(format).catch((error: unknown) => Promise.reject(badSchema(error)));
    // A bound, since there is no end of schemas.
    if (grammars.size >= 16) grammars.clear();
    grammars.set(name, made);
    return made;
  };

  return {
    async run(job, { signal, emit }) {
      const slot = free.pop();
      if (slot === undefined) throw new Error("too many concurrent conversations");
      try {
        const history = toHistory(job);
        const { contextText } = slot.chat.chatWrapper.generateContextState({
          chatHistory: history,
        });
        const promptTokens = contextText.tokenize(model.tokenizer).length;
        const room = context.contextSize - promptTokens;
        if (room < 1) throw tooLong(promptTokens, context.contextSize);
        // What is left of another conversation changes the last digits, and so the text, of a
        // seeded one.
        if (job.seed !== undefined) await slot.sequence.clearHistory();
        let completionTokens = 0;
        let lastMs = 0;
        const { metadata, response } = await slot.chat.generateResponse(history, {
          signal,
          maxTokens: Math.min(job.maxTokens ?? room, room),
          temperature: job.temperature ?? usualTemperature,
          topP: job.topP ?? 1,
          // Keeps a small model from words that it would never mean.
          minP: 0.05,
          seed: job.seed ?? Math.floor(Math.random() * 2 ** 31),
          customStopTriggers: job.stop,
          ...(isProneToLoops ? { dryRepeatPenalty: loopPenalty } : {}),
          repeatPenalty: {
            penalty: 1.1,
            lastTokens: 256,
            frequencyPenalty: job.frequencyPenalty,
            presencePenalty: job.presencePenalty,
          },
          ...(job.json === undefined
            ? {}
            : { grammar: await grammarFor(job.json), trimWhitespaceSuffix: true }),
          onTextChunk: emit,
          onToken: (tokens) => {
            completionTokens += tokens.length;
            const nowMs = performance.now();
            // Before the first token the prompt was read.
            if (lastMs !== 0) pace.note((nowMs - lastMs) / tokens.length);
            lastMs = nowMs;
            llama.maxThreads = pace.threads;
          },
        });
        const isCut = metadata.stopReason === "maxTokens" && !(job.json && isWholeJson(response));
        const finishReason = isCut ? "length" : "stop";
        return { finishReason, promptTokens, completionTokens };
      } finally {
        free.push(slot);
      }
    },
  };
}

function tooLong(promptTokens: number, contextTokens: number): EngineError {
  return new EngineError({
    code: "context_length_exceeded",
    // Clients look for the same words as in the gateway's own errors, and the gateway passes these on.
    message: `prompt is too long: ${promptTokens} tokens > ${contextTokens} maximum, which exceeds the context window. This model's maximum context length is ${contextTokens} tokens, including its answer: shorten the conversation.`,
    param: "messages",
  });
}

/** The grammar goes on with line breaks behind a value: an answer cut there is whole. */
function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function badSchema(error: unknown): EngineError {
  return new EngineError({
    message: `response_format has a schema that this model does not support: ${error instanceof Error ? error.message : String(error)}`,
    param: "response_format",
  });
}

/** The model goes on from the last entry, which is its own. */
function toHistory({ messages }: ChatJob): ChatHistoryItem[] {
  const history = messages.map(({ role, text }): ChatHistoryItem => {
    switch (role) {
      case "system":
        return { type: "system", text };
      case "user":
        return { type: "user", text };
      case "assistant":
        return { type: "model", response: [text] };
      default:
        return role satisfies never;
    }
  });
  return history.at(-1)?.type === "model" ? history : [...history, { type: "model", response: [] }];
}
