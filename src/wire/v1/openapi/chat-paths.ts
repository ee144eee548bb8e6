import type { JsonObject } from "../../../call/chat.ts";
import { chatRequest } from "../chat/request.ts";
import { completionRequest } from "../completions/request.ts";
import { messageEvent, messageReply, tokenCount } from "../messages/replies.ts";
import { countRequest, messagesRequest } from "../messages/request.ts";
import { completion, completionChunk } from "./completion-replies.ts";
import { examples } from "./examples.ts";
import { operation, type PathKit } from "./operation.ts";
import { chatCompletion, chatCompletionChunk } from "./replies.ts";

/** Chat models in the format of the contract, and in the legacy one. */
export function toChatPaths({ schemas, json, asked }: PathKit): JsonObject {
  return {
    "/chat/completions": {
      post: operation({
        id: "createChatCompletion",
        tag: "Chat",
        summary: "Create a chat completion",
        errors: [401, 402, 403, 429],
        isOfModel: true,
        body: asked(chatRequest, examples.chatRequest),
        ok: {
          ...json(chatCompletion, examples.chatReply),
          "text/event-stream": {
            schema: schemas.convert(chatCompletionChunk),
            example: examples.chatChunk,
          },
        },
      }),
    },
    "/completions": {
      post: operation({
        id: "createCompletion",
        tag: "Completions",
        summary: "Create a legacy completion",
        errors: [400, 401, 402, 403, 429],
        isOfModel: true,
        "x-preview": true,
        body: asked(completionRequest, examples.completionRequest),
        ok: {
          ...json(completion, examples.completionReply),
          "text/event-stream": {
            schema: schemas.convert(completionChunk),
            example: examples.completionChunk,
          },
        },
      }),
    },
  };
}

/** The same models as chat completions has, in another format. */
export function toMessagesPaths({ schemas, json, asked }: PathKit): JsonObject {
  const shared = {
    tag: "Messages",
    errors: [400, 401, 402, 403, 429],
    isMessages: true,
    "x-preview": true,
  } as const;
  return {
    "/messages": {
      post: operation({
        ...shared,
        id: "createMessage",
        summary: "Create a message",
        isOfModel: true,
        body: asked(messagesRequest, examples.messagesRequest),
        ok: {
          ...json(messageReply, examples.messagesReply),
          "text/event-stream": {
            schema: schemas.convert(messageEvent),
            example: examples.messagesEvent,
          },
        },
      }),
    },
    "/messages/count_tokens": {
      post: operation({
        ...shared,
        id: "countMessageTokens",
        summary: "Count the input tokens of a message (free)",
        isOfModel: false,
        body: asked(countRequest, examples.countRequest),
        ok: json(tokenCount, examples.tokenCount),
      }),
    },
  };
}
