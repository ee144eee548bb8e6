/** Answers of `/audio/transcriptions`, as OpenAI, Groq and vLLM send them. */

import { jsonReply } from "../http/reply.ts";
import type { RecordedRequest } from "../upstream.ts";
import { chatStream, DONE, type StreamEvent } from "./chat-stream.ts";

export const TRANSCRIPT = "The quick brown fox. Then it sleeps.";

const segment = (id: number, start: number, end: number, text: string) => ({
  id,
  seek: 0,
  start,
  end,
  text,
  tokens: [50364, 440],
  temperature: 0,
  avg_logprob: -0.25,
  compression_ratio: 1.1,
  no_speech_prob: 0.01,
});

const verbose = {
  task: "transcribe",
  language: "english",
  duration: 3.98,
  text: TRANSCRIPT,
  segments: [
    segment(0, 0, 2.5, " The quick brown fox."),
    segment(1, 2.5, 3.98, " Then it sleeps."),
  ],
};

const words = [
  { word: "The", start: 0, end: 0.25 },
  { word: "quick", start: 0.25, end: 0.5 },
];

const usage = { type: "tokens", input_tokens: 40, output_tokens: 9, total_tokens: 49 };

export const transcriptionReplies = {
  json: () => jsonReply({ body: { text: TRANSCRIPT, usage } }),
  verbose: () => jsonReply({ body: { ...verbose, usage: { type: "duration", seconds: 4 } } }),
  words: () => jsonReply({ body: { ...verbose, words } }),
  /** OpenAI's events. */
  stream: () =>
    chatStream({
      events: [
        ...TRANSCRIPT.split(/(?<= )/).map((delta) => ({ type: "transcript.text.delta", delta })),
        { type: "transcript.text.done", text: TRANSCRIPT, usage },
      ],
    }),
  /** vLLM's, which look like those of a chat. */
  chunks: () =>
    chatStream({
      events: [
        ...TRANSCRIPT.split(/(?<= )/).map(
          (content): StreamEvent => ({
            id: "trsc-1",
            object: "transcription.chunk",
            created: 1_760_000_000,
            model: "whisper",
            choices: [{ delta: { content }, finish_reason: null }],
          }),
        ),
        DONE,
      ],
    }),
  /** What comes is as much as was asked for. */
  asAsked: ({ body }: RecordedRequest) => {
    if (/name="stream"\r\n\r\ntrue/.test(body)) return transcriptionReplies.stream();
    if (/name="timestamp_granularities\[\]"\r\n\r\nword/.test(body))
      return transcriptionReplies.words();
    return body.includes("verbose_json")
      ? transcriptionReplies.verbose()
      : transcriptionReplies.json();
  },
} as const;
