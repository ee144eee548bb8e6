/**
 * Everything that a vendor may say, as whole HTTP replies. The shapes are those documented for
 * OpenAI, Gemini's compatible face, vLLM, llama.cpp and TGI; ids, texts and counts are made up.
 */

export {
  CHAT_USAGE,
  chatAnswers,
  chatJson,
  TOOL_CALL,
} from "./chat-json.ts";
export { chatChunk, chatStream, DONE, openaiEvents } from "./chat-stream.ts";
export { chatStreams } from "./chat-streams.ts";
export { embeddingReplies, embeddingsReply, VECTORS } from "./embedding-replies.ts";
export {
  badRequests,
  errorReply,
  failures,
  operatorErrors,
  rateLimits,
  vendorError,
} from "./error-replies.ts";
export { httpChunk, httpReply, jsonReply, type Recording } from "./http-reply.ts";
export { speechReplies, tone } from "./speech-replies.ts";
