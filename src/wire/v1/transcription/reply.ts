import type {
  Transcript,
  TranscriptionFormat,
  TranscriptSegment,
} from "../../../call/transcribe.ts";
import type {
  TranscriptionReply,
  TranscriptTextDelta,
  TranscriptTextDone,
  VerboseTranscription,
} from "../openapi/transcription-replies.ts";

export interface TranscriptionForm {
  readonly format: TranscriptionFormat;
  readonly hasSegments: boolean;
  readonly hasWords: boolean;
  /** As measured. */
  readonly durationS: number;
  /** As billed. */
  readonly seconds: number;
}

export interface WrittenTranscript {
  readonly contentType: string;
  readonly body: string;
}

const plainType = "text/plain; charset=utf-8";

export function toTranscriptionReply(
  transcript: Transcript,
  form: TranscriptionForm,
): WrittenTranscript {
  const { text, segments = [] } = transcript;
  switch (form.format) {
    case "json":
      return toJson({ text, usage: usageOf(form.seconds) } satisfies TranscriptionReply);
    case "verbose_json":
      return toJson(toVerbose(transcript, form));
    case "text":
      return { contentType: plainType, body: `${text}\n` };
    case "srt":
      return { contentType: plainType, body: segments.map(toSrt).join("\n") };
    case "vtt":
      return { contentType: plainType, body: `WEBVTT\n\n${segments.map(toVtt).join("\n")}` };
    default:
      return form.format satisfies never;
  }
}

const toJson = (reply: object): WrittenTranscript => ({
  contentType: "application/json",
  body: JSON.stringify(reply),
});

const usageOf = (seconds: number) => ({ type: "duration", seconds }) as const;

function toVerbose(transcript: Transcript, form: TranscriptionForm): VerboseTranscription {
  const { text, language = "", segments = [], words = [] } = transcript;
  return {
    task: "transcribe",
    language,
    duration: rounded(form.durationS),
    text,
    ...(form.hasSegments ? { segments: segments.map(toSegment) } : {}),
    ...(form.hasWords
      ? { words: words.map(({ word, startS, endS }) => ({ word, start: startS, end: endS })) }
      : {}),
    usage: usageOf(form.seconds),
  };
}

/** Clients expect all of these numbers; those that an upstream does not report are 0. */
const noDetails = {
  seek: 0,
  tokens: [] as readonly number[],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
};

function toSegment({ startS, endS, text, details }: TranscriptSegment, id: number) {
  return { id, start: startS, end: endS, text, ...noDetails, ...details } as NonNullable<
    VerboseTranscription["segments"]
  >[number];
}

const rounded = (seconds: number) => Math.round(seconds * 1000) / 1000;

function toSrt({ startS, endS, text }: TranscriptSegment, at: number): string {
  return `${at + 1}\n${toClock(startS, ",")} --> ${toClock(endS, ",")}\n${toCue(text)}\n`;
}

function toVtt({ startS, endS, text }: TranscriptSegment): string {
  return `${toClock(startS, ".")} --> ${toClock(endS, ".")}\n${toCue(text)}\n`;
}

/** A blank line or an arrow would end a cue or begin another. */
function toCue(text: string): string {
  return text
    .replace(/\s*[\r\n]+\s*/g, " ")
    .replaceAll("-->", "->")
    .trim();
}

function toClock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const clock = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${clock}${point}${String(ms % 1000).padStart(3, "0")}`;
}

export function toTranscriptDelta(delta: string): string {
  const event: TranscriptTextDelta = { type: "transcript.text.delta", delta };
  return `data: ${JSON.stringify(event)}\n\n`;
}

export function toTranscriptDone(text: string, seconds: number): string {
  const event: TranscriptTextDone = {
    type: "transcript.text.done",
    text,
    usage: usageOf(seconds),
  };
  return `data: ${JSON.stringify(event)}\n\n`;
}
