import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { voices } from "../../../call/speak.ts";
import { modelId, named, optionalNumber, told } from "../schema.ts";

const maxCharacters = 5000;
const maxInstructions = 4096;

export const speechRequest = Type.Object(
  {
    model: modelId("speech"),
    input: Type.String({
      minLength: 1,
      maxLength: maxCharacters,
      ...told(
        `Text to speak: at most ${maxCharacters} characters, counted as code points.`,
        `text of 1 to ${maxCharacters} characters`,
      ),
    }),
    voice: Type.Enum(
      [...voices],
      told(
        "Voice name. Other voice names are rejected.",
        `one of: ${voices.join(", ")} (names are case-sensitive)`,
      ),
    ),
    response_format: Type.Optional(
      Type.Enum(
        ["wav", "pcm"],
        told("A WAV file (the default) or raw samples. 24 kHz, mono, 16-bit.", '"wav" or "pcm"'),
      ),
    ),
    stream_format: Type.Optional(
      Type.Enum(
        ["audio", "sse"],
        told("The audio itself (the default), or events with base64 audio.", '"audio" or "sse"'),
      ),
    ),
    speed: optionalNumber(
      0.25,
      4,
      "Speed. Default: 1. Models without speed control reject other values.",
    ),
    instructions: Type.Optional(
      Type.String({
        maxLength: maxInstructions,
        ...told(
          "How to speak, in words. Models that do not support instructions reject them.",
          `text of at most ${maxInstructions} characters`,
        ),
      }),
    ),
  },
  named("SpeechRequest", "A speech request."),
);

export type SpeechRequest = Static<typeof speechRequest>;
