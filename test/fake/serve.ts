/** `npm run fake-upstream [-- PORT]`: plays recorded replies on a port, for trying things by hand. */

import { chatAnswers, chatStreams, jsonReply, rateLimits, speechReplies } from "./recordings.ts";
import { cutAfter, type Reply } from "./script.ts";
import { type RecordedRequest, startFakeUpstream } from "./upstream.ts";
import { willingVendor } from "./willing-vendor.ts";

/** The model chooses the reply. Every other name gets a plain answer. */
const replies: Readonly<Record<string, (isStreamed: boolean) => Reply>> = {
  "fake-chat": (isStreamed) => (isStreamed ? chatStreams.openai() : chatAnswers.plain()),
  "fake-reasoning": (isStreamed) =>
    isStreamed ? chatStreams.reasoning() : chatAnswers.reasoning(),
  "fake-tool-call": (isStreamed) => (isStreamed ? chatStreams.toolCall() : chatAnswers.toolCall()),
  "fake-rate-limit": () => rateLimits.seconds(),
  "fake-cut": () => cutAfter({ recording: chatStreams.openai(), parts: 2, by: "reset" }),
  "fake-silent": () => [{ hang: true }],
  "fake-tts": () => speechReplies.pcmChunked(),
};

function replyTo(request: RecordedRequest): Reply {
  console.log(`${request.method} ${request.path} ${request.body.slice(0, 200)}`);
  if (request.path.endsWith("/models"))
    return jsonReply({
      body: { object: "list", data: Object.keys(replies).map((id) => ({ id, object: "model" })) },
    });
  if (request.path.endsWith("/transcriptions")) return willingVendor(request);
  const { model } = JSON.parse(request.body || "{}") as { readonly model?: string };
  const isStreamed = /"stream"\s*:\s*true/.test(request.body);
  return replies[model ?? ""]?.(isStreamed) ?? willingVendor(request);
}

const port = Number(process.argv[2] ?? 9999);
const upstream = await startFakeUpstream({ port });
upstream.replyWith(replyTo);
const chats = Object.keys(replies).filter((id) => id !== "fake-tts");
console.log(`The fake upstream listens on ${upstream.baseUrl}. Connect it to a running gateway:

  svc provider add fake --base-url ${upstream.baseUrl} --allow-private --all-models
  svc price set ${chats.join(" ")} --input 1 --output 2
  svc price set fake-tts --input 1 --audio-output 2
  svc chat --model fake-chat "Hello"

Every request is printed below. Ctrl-C ends it.
`);
