import type { Voice } from "../../../call/speak.ts";
import { readSpeechRequest } from "../../../wire/v1/validate.ts";
import { type ModelCall, notProvided } from "../../gateway.ts";
import { toReplyStream } from "../../stream-reply.ts";
import { openPcm } from "./pcm.ts";
import { SpeechSource } from "./speech-source.ts";

/** POST /v1/audio/speech. Preview. */
export async function serveSpeech({
  parts,
  exchange,
  body,
  model,
  call,
  end,
}: ModelCall): Promise<Response> {
  const request = readSpeechRequest(body);
  const speak = { text: request.input, voice: request.voice as Voice };
  const { signal } = call;
  // A failure before the first sound still gets its real status.
  const pcm = await parts.router.serve(model, signal, async ({ provider, target }) => {
    if (provider.speak === undefined) throw notProvided(model);
    return openPcm(await provider.speak({ call: speak, target, signal }), provider.name);
  });
  const asWav = request.response_format !== "pcm";
  const source = new SpeechSource(pcm, asWav);
  return exchange.reply(
    toReplyStream({ call, source, onEnd: end }),
    asWav ? "audio/wav" : "audio/pcm",
  );
}
