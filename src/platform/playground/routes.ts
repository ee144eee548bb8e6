import { Type } from "../../base/json/type.ts";
import { engineProvider } from "../../catalog/model.ts";
import { route } from "../context.ts";
import { actorOf } from "../http/context.ts";
import { moment } from "../http/schemas.ts";
import { callableModel, type ModelView } from "../models/schemas.ts";

const keyReply = Type.Object({
  key: Type.String({ description: "Works like any key. It is not stored and is shown only once." }),
  expires_at: moment("UTC; 15 minutes from now."),
  base_url: Type.String({ description: "Base URL of the gateway; ends in /v1." }),
});

const modelReply = Type.Object({
  ...Type.Omit(callableModel, ["owned_by", "price", "deprecated_at", "keys"]).properties,
  takes_images: Type.Boolean({
    description: "False if the chat model is known not to accept images.",
  }),
});

/** What the playground needs to call the gateway as any client would. */
export const playgroundRoutes = [
  route("POST /api/accounts/:account/playground-key", {
    about: "Creates a 15-minute key that is billed to the account.",
    access: "developer",
    area: "keys",
    reply: keyReply,
    async handle({ operations, dependencies, account, actor }) {
      const { key, expires_at } = await operations.gateway.createTemporaryKey({
        account: account.id,
        owner: actorOf(actor).id,
      });
      return { key, expires_at, base_url: `${dependencies.gatewayUrl()}/v1` };
    },
  }),
  route("GET /api/accounts/:account/playground-models", {
    about: "Lists the models that can be called now, with endpoint and input types.",
    access: "viewer",
    area: "models",
    reply: Type.Array(modelReply),
    async handle({ operations }) {
      const models = await operations.models.list({});
      return models
        .filter(({ served }) => served)
        .map((model) => ({
          ...model,
          takes_images: model.endpoint === "chat" && !isEmbedded(model),
        }));
    },
  }),
] as const;

/** The embedded chat model accepts only text. Other models decide for themselves. */
const isEmbedded = ({ route_list }: ModelView) =>
  route_list.every(({ provider }) => provider === engineProvider);
