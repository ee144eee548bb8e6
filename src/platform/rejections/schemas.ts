import { Type } from "../../base/json/type.ts";
import { rejectionReasons } from "../../rejections/rejection.ts";
import { moment, nullable, oneOf, type View } from "../http/schemas.ts";

export const rejectionReply = Type.Object({
  id: Type.String({
    description: "Same as the x-request-id header of the reply, or of the first of several.",
  }),
  at: moment(),
  account: Type.String(),
  key: Type.String(),
  key_name: nullable(
    Type.String({ description: "Null for temporary keys, for example the playground's." }),
  ),
  key_hint: nullable(Type.String({ description: "A masked form of the secret." })),
  model: nullable(
    Type.String({ description: "The requested model; null if unknown, or if several differ." }),
  ),
  endpoint: nullable(
    Type.String({
      description: "chat, embeddings, speech, transcription or models; null for an unknown path.",
    }),
  ),
  dialect: nullable(
    Type.String({
      description:
        "API format of a call to a chat model: chat, responses, messages or completions. Null for other endpoints, in older rows, or if several differ.",
    }),
  ),
  status: Type.Integer({ description: "HTTP status of the reply." }),
  code: Type.String({ description: "Error code of the reply." }),
  message: Type.String({ description: "Error message of the reply, without secrets." }),
  reason: Type.Optional(
    nullable(
      oneOf(rejectionReasons, {
        description:
          "Why the model could not be called; null if the code says it all. Operators only.",
      }),
    ),
  ),
  count: Type.Integer({
    description:
      "1, or how many further calls of the same key, code and minute this row stands for.",
  }),
});
export type RejectionView = View<typeof rejectionReply>;
