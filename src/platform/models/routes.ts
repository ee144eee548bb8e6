import { Type } from "typebox";
import { endpoints } from "../../call/endpoint.ts";
import { route } from "../context.ts";
import { moment, nullable, oneOf } from "../http/schemas.ts";

const modelReply = Type.Object({
  id: Type.String(),
  endpoint: Type.String({ description: endpoints.join(", ") }),
  input: Type.String({ description: "text or media, for embeddings." }),
  owned_by: Type.String(),
  status: oneOf(["active", "deprecated", "retired"]),
  price: nullable(
    Type.Record(Type.String(), Type.String(), {
      description: "USD by class: a million tokens, an image, a second of video.",
    }),
  ),
  max_output_tokens: nullable(Type.Integer()),
  deprecated_at: nullable(moment()),
  retires_at: nullable(moment()),
  replacement: nullable(Type.String()),
  keys: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
    description: "The account's active keys that may call it.",
  }),
});

/** What the keys of an account may call. */
export const modelRoutes = [
  route("GET /api/accounts/:account/models", {
    about: "The models that can be called, with their price and how long they stay.",
    access: "viewer",
    area: "models",
    reply: Type.Array(modelReply),
    async handle({ operations, account }) {
      const models = await operations.models.list({});
      const keys = await operations.keys.list({ account: account.id });
      const active = keys.filter(({ status }) => status === "active");
      return models
        .filter(({ served, status }) => served || status === "retired")
        .map((model) => ({
          id: model.id,
          endpoint: model.endpoint,
          input: model.input,
          owned_by: model.owned_by,
          status: model.status,
          price: model.price,
          max_output_tokens: model.max_output_tokens,
          deprecated_at: model.deprecated_at,
          retires_at: model.retires_at,
          replacement: model.replacement,
          keys: active
            .filter(({ models: allowed }) => allowed === null || allowed.includes(model.id))
            .map(({ id, name, hint }) => ({ id, name: name === "" ? hint : name })),
        }));
    },
  }),
] as const;
