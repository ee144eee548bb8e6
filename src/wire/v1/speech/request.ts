import { type Static, Type } from "typebox";
import { voices } from "../../../call/speak.ts";
import { modelId, named, told } from "../schema.ts";

const maxCharacters = 5000;
const maxInstructions = 4096;

export const speechRequest = Type.Object(
  {
    model: modelId("speech"),
    input: Type.String({
      minLength: 1,
      maxLength: maxCharacters,
      ...told(
        `What is to be spoken: at most ${maxCharacters} characters, counted as code points.`,
        `text of 1 to ${maxCharacters} characters`,
      ),
    }),
    voice: Type.Enum(
      [...voices],
      told(
        "Who speaks. Voices of other providers are refused.",
        `one of: ${voices.join(", ")} (names are case-sensitive)`,
      ),
    ),
    response_format: Type.Optional(
      Type.Enum(
        ["wav", "pcm"],
        told("A WAV file, unless told, or bare samples. 24 kHz, mono, 16-bit.", '"wav" or "pcm"'),
      ),
    ),
    stream_format: Type.Optional(
      Type.Enum(
        ["audio", "sse"],
        told("The audio itself (the default), or events with base64 audio.", '"audio" or "sse"'),
      ),
    ),
    speed: Type.Optional(
      Type.Number({
        minimum: 0.25,
        maximum: 4,
        ...told(
          "How fast, 1 by default. Models that cannot change it refuse other values.",
          "a number from 0.25 to 4",
        ),
      }),
    ),
    instructions: Type.Optional(
      Type.String({
        maxLength: maxInstructions,
        ...told(
          "How to speak, in words. Models that take none refuse them.",
          `text of at most ${maxInstructions} characters`,
        ),
      }),
    ),
  },
  named("SpeechRequest", "A text and the voice that speaks it."),
);

export type SpeechRequest = Static<typeof speechRequest>;
