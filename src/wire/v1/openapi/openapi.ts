import type { JsonObject } from "../../../call/chat.ts";
import { embeddingRequest } from "../embeddings/request.ts";
import { toAudioPaths } from "./audio-paths.ts";
import { toChatPaths, toMessagesPaths } from "./chat-paths.ts";
import { examples } from "./examples.ts";
import {
  headers,
  operation,
  type PathKit,
  parameters,
  tags,
  toErrorResponses,
  toPathKit,
} from "./operation.ts";
import { embeddingResponse, model, modelList, voiceList } from "./replies.ts";
import { toResponsePaths } from "./response-paths.ts";
import { OpenApiSchemas } from "./schema.ts";

/** Where the gateway listens unless it is told otherwise. */
const usualBaseUrl = "http://127.0.0.1:8080/v1";

/**
 * The machine-readable description of version 1, made from the schemas that check the requests.
 * `docs/openapi.json` is this, written out.
 */
export function toOpenApi(baseUrl: string = usualBaseUrl): JsonObject {
  const schemas = new OpenApiSchemas();
  const paths = toPaths(schemas);
  return {
    openapi: "3.0.3",
    info: {
      title: "svc gateway",
      version: "1.0.0",
      description:
        "One key and one base URL for all models: chat, embeddings of text, images and videos, speech, and transcription. Clients for Chat Completions, Responses and Messages work unchanged. Unknown fields never cause an error.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    "x-api-version": "v1",
    servers: [
      {
        url: "{base_url}",
        description: "The gateway.",
        variables: {
          base_url: { default: baseUrl, description: "Base URL; ends in the major version /v1." },
        },
      },
    ],
    security: [{ bearer: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key: sk-svc-…. It is shown only once, when it is created.",
        },
      },
      parameters,
      headers,
      responses: toErrorResponses(schemas),
      schemas: schemas.components,
    },
  };
}

function toPaths(schemas: OpenApiSchemas): JsonObject {
  const kit = toPathKit(schemas);
  const { json, asked } = kit;
  return {
    ...toChatPaths(kit),
    ...toResponsePaths(kit),
    "/embeddings": {
      post: operation({
        id: "createEmbedding",
        tag: "Embeddings",
        summary: "Create embeddings of text, images or a video",
        errors: [400, 401, 402, 429],
        isOfModel: true,
        body: asked(embeddingRequest, examples.embeddingRequest),
        ok: json(embeddingResponse, examples.embeddingReply),
      }),
    },
    ...toAudioPaths(kit),
    ...toMessagesPaths(kit),
    ...toModelPaths(kit),
  };
}

/** What can be called, and by which voices. */
function toModelPaths({ json }: PathKit): JsonObject {
  return {
    "/models": {
      get: operation({
        id: "listModels",
        tag: "Models",
        summary: "List the models that the key can use",
        errors: [401],
        isOfModel: false,
        ok: json(modelList, examples.modelList),
      }),
    },
    "/models/{id}": {
      get: operation({
        id: "retrieveModel",
        tag: "Models",
        summary: "Get a model",
        errors: [401],
        isOfModel: false,
        parameters: [{ $ref: "#/components/parameters/ModelId" }],
        ok: json(model, examples.model),
      }),
    },
    "/audio/voices": {
      get: operation({
        id: "listVoices",
        tag: "Speech",
        summary: "List the voices of the speech models (no key required)",
        errors: [405],
        isOfModel: false,
        security: [],
        ok: json(voiceList, examples.voiceList),
      }),
    },
  };
}
