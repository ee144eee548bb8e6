/**
 * Everything that a vendor may say, as whole HTTP replies. The shapes are those documented for
 * OpenAI, Gemini's compatible face, vLLM, llama.cpp and TGI; ids, texts and counts are made up.
 */

export { httpChunk, httpReply, jsonReply, type Recording } from "./http/reply.ts";
export {
  CHAT_USAGE,
  chatAnswers,
  chatJson,
  TOOL_CALL,
} from "./openai/chat-json.ts";
export { chatChunk, chatStream, DONE, deltaStream, openaiEvents } from "./openai/chat-stream.ts";
export { chatStreams } from "./openai/chat-streams.ts";
export { embeddingReplies, embeddingsReply, VECTORS } from "./openai/embedding-replies.ts";
export {
  badRequests,
  errorReply,
  failures,
  operatorErrors,
  rateLimits,
  vendorError,
} from "./openai/error-replies.ts";
export { speechReplies, tone } from "./openai/speech-replies.ts";
export { TRANSCRIPT, transcriptionReplies } from "./openai/transcription-replies.ts";
