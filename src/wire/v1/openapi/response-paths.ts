import type { JsonObject } from "../../../call/chat.ts";
import { responseRequest } from "../responses/request.ts";
import { operation, type PathKit } from "./operation.ts";
import { responseExamples as examples } from "./response-examples.ts";
import {
  deletedResponse,
  responseEvent,
  responseItems,
  responseReply,
} from "./response-replies.ts";

const idParameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of a stored response.",
  schema: { type: "string", minLength: 1 },
};
const query = (name: string, description: string, schema: JsonObject) => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

export function toResponsePaths({ schemas, json, asked }: PathKit): JsonObject {
  const stored = { tag: "Responses", errors: [401], isOfModel: false, "x-preview": true } as const;
  return {
    "/responses": {
      post: operation({
        id: "createResponse",
        tag: "Responses",
        summary: "Create a response",
        errors: [400, 401, 402, 403, 429],
        isOfModel: true,
        "x-preview": true,
        body: asked(responseRequest, examples.request),
        ok: {
          ...json(responseReply, examples.reply),
          "text/event-stream": { schema: schemas.convert(responseEvent), example: examples.event },
        },
      }),
    },
    "/responses/{id}": {
      get: operation({
        ...stored,
        id: "retrieveResponse",
        summary: "Get a stored response",
        parameters: [idParameter],
        ok: json(responseReply, examples.reply),
      }),
      delete: operation({
        ...stored,
        id: "deleteResponse",
        summary: "Delete a stored response",
        parameters: [idParameter],
        ok: json(deletedResponse, examples.deleted),
      }),
    },
    "/responses/{id}/input_items": {
      get: operation({
        ...stored,
        id: "listResponseInputItems",
        summary: "List the input items of a stored response",
        parameters: [
          idParameter,
          query("limit", "How many items, from 1 to 100. Default: 20.", {
            type: "integer",
            minimum: 1,
            maximum: 100,
          }),
          query("order", "Default: desc, the last item first.", {
            type: "string",
            enum: ["asc", "desc"],
          }),
          query("after", "Id of the item after which the list begins.", { type: "string" }),
        ],
        ok: json(responseItems, examples.items),
      }),
    },
    "/responses/{id}/cancel": {
      post: operation({
        ...stored,
        id: "cancelResponse",
        errors: [400, 401],
        summary: "Always returns an error: only background responses can be canceled",
        parameters: [idParameter],
        ok: json(responseReply, examples.reply),
      }),
    },
  };
}
