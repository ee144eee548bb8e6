import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { named, tagged, told } from "../schema.ts";
import { transcriptionFields } from "../transcription/request.ts";

const usage = Type.Object(
  {
    type: Type.Literal("duration"),
    seconds: Type.Integer({
      minimum: 1,
      description: "Seconds of audio as billed: measured by the gateway, rounded up.",
    }),
  },
  named("TranscriptionUsage", "Usage."),
);

const text = Type.String(told("The whole text."));
const time = (description: string) => Type.Number({ minimum: 0, description });
const known = "0 if the model does not report it.";

/** Only for the document: the form is read part by part. */
export const transcriptionForm = Type.Object(
  {
    file: Type.Unsafe<unknown>({
      type: "string",
      format: "binary",
      description:
        "The audio: WAV (PCM), MP3, FLAC, Ogg (Opus, Vorbis), M4A (AAC) or WebM (Opus, Vorbis); at most 25 MiB. The type is detected from the content.",
    }),
    ...transcriptionFields,
  },
  named("TranscriptionRequest", "A transcription request."),
);

export const transcriptionReply = Type.Object(
  { text, usage },
  named("Transcription", "A transcript."),
);

export const verboseTranscription = Type.Object(
  {
    task: Type.Literal("transcribe"),
    language: Type.String(told("Language of the audio; empty if the model does not report it.")),
    duration: time("Duration of the audio in seconds."),
    text,
    segments: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: Type.Integer({ minimum: 0, description: "Position in the list." }),
            seek: Type.Number(told(`Offset of the segment in the model's window. ${known}`)),
            start: time("Start in seconds."),
            end: time("End in seconds."),
            text: Type.String(told("Text of the segment.")),
            tokens: Type.Array(
              Type.Number(),
              told("Token ids. Empty if the model does not report them."),
            ),
            temperature: Type.Number(told(`Temperature. ${known}`)),
            avg_logprob: Type.Number(told(`Average log probability. ${known}`)),
            compression_ratio: Type.Number(told(`Compression ratio. ${known}`)),
            no_speech_prob: Type.Number(told(`Probability of silence. ${known}`)),
          },
          named("TranscriptionSegment", "A segment."),
        ),
        told("Segments, unless only words were requested."),
      ),
    ),
    words: Type.Optional(
      Type.Array(
        Type.Object(
          {
            word: Type.String(told("The word.")),
            start: time("Start in seconds."),
            end: time("End in seconds."),
          },
          named("TranscriptionWord", "A word."),
        ),
        told("Words, if they were requested."),
      ),
    ),
    usage,
  },
  named("VerboseTranscription", "A transcript with timestamps (`verbose_json`)."),
);

const transcriptTextDelta = Type.Object(
  {
    type: Type.Literal("transcript.text.delta"),
    delta: Type.String(told("The next piece of text.")),
  },
  named("TranscriptTextDelta", "A piece of the text."),
);

const transcriptTextDone = Type.Object(
  { type: Type.Literal("transcript.text.done"), text, usage },
  named("TranscriptTextDone", "The last event."),
);

export const transcriptEvent = tagged("type", [transcriptTextDelta, transcriptTextDone], {
  ...named(
    "TranscriptEvent",
    "With stream: `data: ` followed by this object as JSON. A failed stream ends with an Error.",
  ),
  "x-tag": '"transcript.text.delta" or "transcript.text.done"',
});

export type TranscriptionReply = Static<typeof transcriptionReply>;
export type VerboseTranscription = Static<typeof verboseTranscription>;
export type TranscriptTextDelta = Static<typeof transcriptTextDelta>;
export type TranscriptTextDone = Static<typeof transcriptTextDone>;
