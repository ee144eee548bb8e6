import { embeddingsReply } from "./openai/embedding-replies.ts";
import { transcriptionReplies } from "./openai/transcription-replies.ts";
import { chatAnswers, chatStreams, jsonReply, speechReplies } from "./recordings.ts";
import type { RecordedRequest } from "./upstream.ts";

const offered = ["big-chat", "small-embed", "loud-tts", "dall-e-3"];

/** A server that does all that it is asked. */
export function willingVendor(request: RecordedRequest) {
  const { path, body } = request;
  if (path.endsWith("/models"))
    return jsonReply({
      body: { object: "list", data: offered.map((id) => ({ id, object: "model" })) },
    });
  if (path.endsWith("/embeddings")) return embeddingsReply({ vectors: [[0.5, 0.25]] });
  if (path.endsWith("/speech")) return speechReplies.pcmWithLength();
  if (path.endsWith("/transcriptions")) return transcriptionReplies.asAsked(request);
  return body.toString().includes('"stream":true') ? chatStreams.openai() : chatAnswers.plain();
}
