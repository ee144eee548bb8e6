import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import type { Json, JsonObject } from "../../../call/chat.ts";
import { transcriptionFormats } from "../../../call/transcribe.ts";
import { modelId, named, optionalFlag, optionalNumber, told } from "../schema.ts";

const maxPromptChars = 10_000;

/** The fields of the form beside `file`. */
export const transcriptionFields = {
  model: modelId("transcription"),
  language: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z][A-Za-z-]{1,31}$",
      ...told(
        "Language of the audio (ISO 639-1), such as `en`. Default: detected by the model.",
        "a language code, such as en",
      ),
    }),
  ),
  prompt: Type.Optional(
    Type.String({
      maxLength: maxPromptChars,
      ...told(
        "Text that precedes the audio, or words that are likely in it.",
        `text of at most ${maxPromptChars} characters`,
      ),
    }),
  ),
  response_format: Type.Optional(
    Type.Enum(
      [...transcriptionFormats],
      told(
        "Format of the reply. Default: `json`. The last three need a model that reports timestamps.",
        `one of: ${transcriptionFormats.join(", ")}`,
      ),
    ),
  ),
  temperature: optionalNumber(0, 1, "Sampling temperature."),
  timestamp_granularities: Type.Optional(
    Type.Array(Type.Enum(["word", "segment"], { "x-says": '"word" or "segment"' }), {
      minItems: 1,
      maxItems: 2,
      ...told(
        "Timestamps in a `verbose_json` reply. Default: `segment`. Sent as `timestamp_granularities[]`, once for each value.",
        "sent as timestamp_granularities[], once or twice",
      ),
    }),
  ),
  stream: optionalFlag(
    "Sends the text in events as it is recognized. Only with `json` and `text`.",
  ),
};

export const transcriptionRequest = Type.Object(
  transcriptionFields,
  named("TranscriptionFields", "The fields of a transcription request, without its file."),
);
export type TranscriptionRequest = Static<typeof transcriptionRequest>;

const numberForm = /^-?\d+(\.\d+)?$/;

/** Forms have text only: numbers and booleans are read here. */
export function fromForm(fields: JsonObject): JsonObject {
  const typed: Record<string, Json | undefined> = { ...fields };
  const { temperature, stream, timestamp_granularities: granularities } = fields;
  if (typeof temperature === "string" && numberForm.test(temperature))
    typed["temperature"] = Number(temperature);
  if (stream === "true" || stream === "false") typed["stream"] = stream === "true";
  if (typeof granularities === "string") typed["timestamp_granularities"] = [granularities];
  // An empty field is how forms leave one out.
  for (const [name, value] of Object.entries(typed))
    if (value === "" && name !== "model") delete typed[name];
  return typed;
}
