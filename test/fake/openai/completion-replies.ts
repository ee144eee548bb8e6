/** Legacy completions, whole and as server-sent events. */

import { type Framing, jsonReply, type Recording } from "../http/reply.ts";
import { CHAT_CREATED, usageOf, type VendorUsage } from "./chat-json.ts";
import { chatStream, DONE, type StreamEvent } from "./chat-stream.ts";

const COMPLETION_MODEL = "gpt-3.5-turbo-instruct:20230824-v2";
export const COMPLETION_USAGE = usageOf({ prompt: 5, completion: 6 });

export const completionChoice = (text: string, index = 0, fields: object = {}) => ({
  text,
  index,
  logprobs: null,
  finish_reason: "stop",
  ...fields,
});

interface CompletionJsonOptions {
  readonly choices?: readonly object[];
  /** `null` leaves the block out. */
  readonly usage?: VendorUsage | null;
  readonly framing?: Framing;
}

export function completionJson(options: CompletionJsonOptions = {}): Recording {
  const { choices = [completionChoice(" red, yellow and blue.")], framing = "length" } = options;
  const { usage = COMPLETION_USAGE } = options;
  return jsonReply({
    body: {
      warning: "This model version is deprecated.",
      id: "cmpl-vendor0001",
      object: "text_completion",
      created: CHAT_CREATED,
      model: COMPLETION_MODEL,
      choices,
      ...(usage === null ? {} : { usage }),
      system_fingerprint: "fp_44709d6fcb",
    },
    framing,
    gzip: false,
  });
}

interface CompletionChunkOptions {
  readonly text?: string;
  readonly index?: number;
  readonly finish?: string | null;
  readonly logprobs?: object | null;
  readonly choices?: readonly object[];
  readonly usage?: VendorUsage;
}

export function completionChunk(options: CompletionChunkOptions): StreamEvent {
  const { text = "", index = 0, finish = null, logprobs = null, usage } = options;
  return {
    id: "cmpl-vendor0002",
    object: "text_completion",
    created: CHAT_CREATED,
    choices: options.choices ?? [{ text, index, logprobs, finish_reason: finish }],
    model: COMPLETION_MODEL,
    system_fingerprint: "fp_44709d6fcb",
    ...(usage === undefined ? {} : { usage }),
  };
}

/** The events of OpenAI with `include_usage`: text, finish, usage, `[DONE]`. */
export function completionStream(
  pieces: readonly string[] = [" red", ", yellow", " and", " blue", "."],
): Recording {
  return chatStream({
    events: [
      ...pieces.map((text) => completionChunk({ text })),
      completionChunk({ finish: "stop" }),
      completionChunk({ choices: [], usage: COMPLETION_USAGE }),
      DONE,
    ],
  });
}
