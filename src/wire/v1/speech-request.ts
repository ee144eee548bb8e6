import { type Static, Type } from "typebox";
import { voices } from "../../call/speak.ts";
import { modelId, named, told } from "./schema.ts";

const maxCharacters = 5000;

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
  },
  named("SpeechRequest", "A text and the voice that speaks it."),
);

export type SpeechRequest = Static<typeof speechRequest>;
