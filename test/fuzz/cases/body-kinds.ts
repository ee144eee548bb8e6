import type { TSchema } from "typebox";
import { chatRequest } from "../../../src/wire/v1/chat/request.ts";
import { completionRequest } from "../../../src/wire/v1/completions/request.ts";
import { embeddingRequest } from "../../../src/wire/v1/embeddings/request.ts";
import { countRequest, messagesRequest } from "../../../src/wire/v1/messages/request.ts";
import { responseRequest } from "../../../src/wire/v1/responses/request.ts";
import { speechRequest } from "../../../src/wire/v1/speech/request.ts";
import type { Dice } from "./dice.ts";
import type { FuzzBody } from "./json-text.ts";
import {
  wholeChat,
  wholeCompletion,
  wholeMediaEmbedding,
  wholeSpeech,
  wholeTextEmbedding,
} from "./valid-bodies.ts";
import { wholeMessage, wholePrompt } from "./valid-messages.ts";
import { wholeResponse } from "./valid-responses.ts";
import { sentence } from "./words.ts";

/** The endpoints that take JSON, each with its own kinds of bodies. */
export type BodyKind =
  | "chat"
  | "text-embeddings"
  | "media-embeddings"
  | "speech"
  | "responses"
  | "messages"
  | "count-tokens"
  | "completions";

interface Kind {
  readonly path: string;
  readonly schema: TSchema & {
    readonly properties: Readonly<Record<string, TSchema>>;
    readonly required?: readonly string[];
  };
  /** A random body with nearly every field in it. It is served with any of the optional ones. */
  readonly whole: (dice: Dice) => FuzzBody;
}

const kind = (path: string, schema: Kind["schema"], whole: Kind["whole"]): Kind => ({
  path: `/v1/${path}`,
  schema,
  whole,
});

export const kinds: Readonly<Record<BodyKind, Kind>> = {
  chat: kind("chat/completions", chatRequest, wholeChat),
  "text-embeddings": kind("embeddings", embeddingRequest, wholeTextEmbedding),
  "media-embeddings": kind("embeddings", embeddingRequest, wholeMediaEmbedding),
  speech: kind("audio/speech", speechRequest, wholeSpeech),
  responses: kind("responses", responseRequest, wholeResponse),
  messages: kind("messages", messagesRequest, wholeMessage),
  "count-tokens": kind("messages/count_tokens", countRequest, wholePrompt),
  completions: kind("completions", completionRequest, wholeCompletion),
};
export const bodyKinds = Object.keys(kinds) as readonly BodyKind[];

/** A random body that must be served: some of the fields in any order, and fields of its own. */
export function validBody(dice: Dice, name: BodyKind): FuzzBody {
  const { schema, whole } = kinds[name];
  const required = new Set(schema.required);
  const share = dice.pick([35, 80]);
  const fields = Object.entries({
    ...whole(dice),
    unknown_field: dice.pick([1, sentence(dice), [{ a: [] }], { b: {} }]),
    x: dice.below(1_000),
  }).filter(([field]) => required.has(field) || dice.percent(share));
  // A choice names one of the tools: without them it is refused.
  const hasTools = fields.some(([field]) => field === "tools");
  return Object.fromEntries(
    dice.shuffled(hasTools ? fields : fields.filter(([field]) => field !== "tool_choice")),
  );
}
