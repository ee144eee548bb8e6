import type { Voice } from "../../../call/speak.ts";
import { readSpeechRequest } from "../../../wire/v1/validate.ts";
import { type ModelCall, notProvided } from "../../gateway.ts";
import { toReplyStream } from "../../stream-reply.ts";
import { openPcm } from "./pcm.ts";
import { mostAudioBytes, speechNeed } from "./speech-money.ts";
import { SpeechSource } from "./speech-source.ts";

/** POST /v1/audio/speech. Preview. */
export async function serveSpeech(modelCall: ModelCall): Promise<Response> {
  const { parts, exchange, body, model, call, end } = modelCall;
  const request = readSpeechRequest(body);
  const { input: text } = request;
  exchange.isStreamed = true;
  const mostBytes = mostAudioBytes(text, model.maxAudioSeconds);
  const { need, tokens } = speechNeed({ text, mostBytes, price: modelCall.price });
  const admitted = modelCall.admit(need, tokens);
  const charge = admitted instanceof Promise ? await admitted : admitted;
  const speak = { text, voice: request.voice as Voice };
  // No upstream counts the text of plain audio; the count is there long before the audio ends.
  const counting = parts.counter.count([text]);
  charge.measure = async () => ({
    units: { input: await counting },
    reasoningTokens: 0,
    estimated: true,
  });
  // A failure before the first sound still gets its real status.
  const pcm = await parts.router.serve(model, call, async (attempt) => {
    const { provider, target } = attempt;
    if (provider.speak === undefined) throw notProvided(model);
    charge.begin(attempt);
    const stream = await provider.speak({
      call: speak,
      target,
      signal: call.signal,
      onAccepted: charge.accepted,
      onDial: call.onDial,
    });
    return openPcm(stream, provider.name);
  });
  const asWav = request.response_format !== "pcm";
  const contentType = asWav ? "audio/wav" : "audio/pcm";
  const source = new SpeechSource({ pcm, asWav, contentType, mostBytes, counting, charge });
  charge.measure = () => source.measure();
  return exchange.reply(toReplyStream({ call, source, onEnd: end }), contentType);
}
