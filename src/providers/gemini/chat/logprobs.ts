import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { objectsOf } from "../wire.ts";

/** `logprobsResult`: the tokens that were chosen, and the likeliest at each place. */
export function fromLogprobsResult(value: Json | undefined): Json {
  if (!isJsonObject(value)) return null;
  const chosen = objectsOf(value["chosenCandidates"]);
  if (chosen.length === 0) return null;
  const likeliest = objectsOf(value["topCandidates"]);
  const content = chosen.map((token, at) => ({
    ...toToken(token),
    top_logprobs: objectsOf(likeliest[at]?.["candidates"]).map(toToken),
  }));
  return { content, refusal: null };
}

function toToken({ token, logProbability }: JsonObject) {
  const text = typeof token === "string" ? token : "";
  return {
    token: text,
    // A certain one is left out there, as every 0 is.
    logprob: typeof logProbability === "number" ? logProbability : 0,
    bytes: [...Buffer.from(text)],
  };
}
