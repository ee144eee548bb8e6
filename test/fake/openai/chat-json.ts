/** Chat completions answered in one JSON body. */

import { type Framing, jsonReply, type Recording } from "../http/reply.ts";

export const CHAT_MODEL = "gpt-4o-mini-2024-07-18";
export const CHAT_CREATED = 1_791_968_400;

export interface VendorUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: Readonly<Record<string, number>>;
  readonly completion_tokens_details?: Readonly<Record<string, number>>;
}

export function usageOf(counts: {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  readonly reasoning?: number;
}): VendorUsage {
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.completion,
    total_tokens: counts.prompt + counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cached ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: counts.reasoning ?? 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Without thoughts: those who leave a model that thinks in secret are read on. */
export const CHAT_USAGE = usageOf({ prompt: 19, completion: 10, cached: 8 });

interface ChatJsonOptions {
  readonly text?: string | null;
  readonly model?: string;
  readonly finishReason?: string;
  /** `null` leaves the block out. */
  readonly usage?: VendorUsage | null;
  /** Laid over the first choice's message. */
  readonly message?: Readonly<Record<string, unknown>>;
  /** Instead of the one choice. */
  readonly choices?: readonly unknown[];
  readonly framing?: Framing;
  readonly gzip?: boolean;
}

export function chatJson(options: ChatJsonOptions = {}): Recording {
  const { text = "Hello! How can I help you today?", usage = CHAT_USAGE } = options;
  const choice = {
    index: 0,
    message: {
      role: "assistant",
      content: text,
      refusal: null,
      annotations: [],
      ...options.message,
    },
    logprobs: null,
    finish_reason: options.finishReason ?? "stop",
  };
  return jsonReply({
    body: {
      id: "chatcmpl-vendor0001",
      object: "chat.completion",
      created: CHAT_CREATED,
      model: options.model ?? CHAT_MODEL,
      choices: options.choices ?? [choice],
      ...(usage === null ? {} : { usage }),
      service_tier: "default",
      system_fingerprint: "fp_44709d6fcb",
    },
    framing: options.framing ?? "length",
    gzip: options.gzip ?? false,
  });
}

export const TOOL_CALL = {
  id: "call_vendor_a1",
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Zürich","unit":"celsius"}' },
} as const;

export const chatAnswers = {
  plain: (options: ChatJsonOptions = {}) => chatJson(options),
  toolCall: () =>
    chatJson({ text: null, finishReason: "tool_calls", message: { tool_calls: [TOOL_CALL] } }),
  reasoning: () =>
    chatJson({ text: "42", message: { reasoning_content: "Six times seven, so forty-two." } }),
  withoutUsage: () => chatJson({ usage: null }),
  emptyChoices: () => chatJson({ choices: [] }),
  gzipped: () => chatJson({ gzip: true }),
  /** A 200 that is not what its content type says. */
  brokenJson: () => brokenJson(),
} as const;

function brokenJson(): Recording {
  const whole = chatJson({ framing: "close" });
  const half = Buffer.concat(whole.parts).subarray(0, 100);
  return { ...whole, parts: [half], bytes: Buffer.concat([whole.head, half]) };
}
