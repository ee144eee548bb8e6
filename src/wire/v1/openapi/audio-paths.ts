import type { JsonObject } from "../../../call/chat.ts";
import { speechRequest } from "../speech/request.ts";
import { examples } from "./examples.ts";
import { operation, type PathKit } from "./operation.ts";
import { speechEvent } from "./replies.ts";
import type { OpenApiSchemas } from "./schema.ts";
import {
  transcriptEvent,
  transcriptionForm,
  transcriptionReply,
  verboseTranscription,
} from "./transcription-replies.ts";

/** Text to speech, and speech to text. */
export function toAudioPaths({ schemas, asked }: PathKit): JsonObject {
  return {
    "/audio/speech": {
      post: operation({
        id: "createSpeech",
        tag: "Speech",
        summary: "Create speech from text",
        errors: [400, 401, 402, 429],
        isOfModel: true,
        "x-preview": true,
        body: asked(speechRequest, examples.speechRequest),
        ok: {
          "audio/wav": audio,
          "audio/pcm": audio,
          "text/event-stream": {
            schema: schemas.convert(speechEvent),
            example: examples.speechEvent,
          },
        },
      }),
    },
    ...toTranscriptionPath(schemas),
  };
}

const audio = {
  schema: {
    type: "string",
    format: "binary",
    description: "24 kHz, mono, 16-bit: a WAV file, or raw samples if response_format is pcm.",
  },
};

function toTranscriptionPath(schemas: OpenApiSchemas): JsonObject {
  const { transcription, verboseTranscription: verbose } = examples;
  return {
    "/audio/transcriptions": {
      post: operation({
        id: "createTranscription",
        tag: "Transcription",
        summary: "Transcribe audio to text",
        errors: [400, 401, 402, 429],
        isOfModel: true,
        "x-preview": true,
        body: {
          "multipart/form-data": {
            schema: schemas.convertRequest(transcriptionForm),
            example: examples.transcriptionRequest,
          },
        },
        ok: {
          "application/json": {
            schema: {
              anyOf: [schemas.convert(transcriptionReply), schemas.convert(verboseTranscription)],
            },
            examples: { json: { value: transcription }, verbose_json: { value: verbose } },
          },
          "text/plain": {
            schema: { type: "string", description: "With response_format text, srt or vtt." },
            example: "Hello there.\n",
          },
          "text/event-stream": {
            schema: schemas.convert(transcriptEvent),
            example: examples.transcriptEvent,
          },
        },
      }),
    },
  };
}
