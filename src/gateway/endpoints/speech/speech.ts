import type { SpeakCall, SpeakOption, Voice } from "../../../call/speak.ts";
import type { Model } from "../../../catalog/model.ts";
import type { SpeechRequest } from "../../../wire/v1/speech/request.ts";
import { fieldError, readSpeechRequest } from "../../../wire/v1/validate.ts";
import type { GatewayDependencies } from "../../dependencies.ts";
import { eventsType } from "../../exchange.ts";
import { notProvided } from "../../failures.ts";
import type { ServedCall } from "../../served-call.ts";
import { toReplyStream } from "../../stream-reply.ts";
import { openPcm } from "./pcm.ts";
import { mostAudioBytes, speechNeed } from "./speech-money.ts";
import { SpeechSource } from "./speech-source.ts";

/** POST /v1/audio/speech. Preview. */
export async function serveSpeech(served: ServedCall): Promise<Response> {
  const { dependencies, exchange, body, call } = served;
  const request = readSpeechRequest(body);
  const speak = toSpeakCall(request);
  const { text, speed, instructions } = speak;
  const model = fitting(dependencies, served.model, speak);
  served.stream();
  const mostBytes = mostAudioBytes(text, { maxAudioSeconds: model.maxAudioSeconds, speed });
  const { need, tokens } = speechNeed({ text, instructions, mostBytes, price: served.price });
  const admitted = served.admit(need, tokens);
  const charge = admitted instanceof Promise ? await admitted : admitted;
  // No upstream counts the text of plain audio; the count is there long before the audio ends.
  const counting = dependencies.counter.count(
    instructions === undefined ? [text] : [text, instructions],
    { accountId: served.key.accountId, purpose: "reply" },
  );
  charge.measure = async () => ({
    units: { input: await counting },
    reasoningTokens: 0,
    estimated: true,
  });
  // A failure before the first sound still gets its real status.
  const pcm = await dependencies.router.serve(model, call, async (attempt) => {
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
  const asEvents = request.stream_format === "sse";
  const contentType = asEvents ? eventsType : asWav ? "audio/wav" : "audio/pcm";
  const form = { asWav, asEvents, contentType };
  const source = new SpeechSource({ pcm, ...form, mostBytes, counting, charge });
  charge.measure = () => source.measure();
  const stream = toReplyStream({ call, source, onEnd: (error) => served.end(error) });
  return asEvents ? exchange.events(stream) : exchange.reply(stream, contentType);
}

/** A value that is the default counts as absent: every target can do that. */
function toSpeakCall({ input: text, voice, speed, instructions }: SpeechRequest): SpeakCall {
  return {
    text,
    voice: voice as Voice,
    ...(speed === undefined || speed === 1 ? {} : { speed }),
    ...(instructions === undefined || instructions === "" ? {} : { instructions }),
  };
}

/** The model without the routes that would ignore what the caller asks for. */
function fitting({ router }: GatewayDependencies, model: Model, speak: SpeakCall): Model {
  const { speed, instructions } = speak;
  if (speed === undefined && instructions === undefined) return model;
  let fit = model;
  for (const option of ["speed", "instructions"] as const) {
    if (speak[option] === undefined) continue;
    fit = router.narrow(
      fit,
      (provider, upstreamModel) => provider.speakOptions?.(upstreamModel).includes(option) === true,
    );
    if (fit.routes.length === 0) throw unserved(option, model);
  }
  return fit;
}

const unserved = (option: SpeakOption, { id }: Model) =>
  fieldError(option, `is not supported by ${id}. Omit it or use another model`);
