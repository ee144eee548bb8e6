import { serveChat } from "./endpoints/chat/chat.ts";
import { serveEmbeddings } from "./endpoints/embeddings/embeddings.ts";
import { listModels, listVoices, showModel } from "./endpoints/models/models.ts";
import { serveSpeech } from "./endpoints/speech/speech.ts";
import { modelEndpoint } from "./pipeline.ts";
import { get, type Major, post } from "./versions.ts";

/** Version 1 of the API. */
export const v1: Major = {
  prefix: "/v1",
  endpoints: (parts) => ({
    "/chat/completions": post(modelEndpoint(parts, "chat", serveChat)),
    "/embeddings": post(modelEndpoint(parts, "embeddings", serveEmbeddings)),
    "/audio/speech": post(modelEndpoint(parts, "speech", serveSpeech)),
    "/models": get(listModels(parts)),
    "/models/*": get(showModel(parts)),
    "/audio/voices": get(listVoices()),
  }),
};
