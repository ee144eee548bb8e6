import { nextTurn } from "../../../base/clock.ts";
import {
  billedAudioSeconds,
  type TranscribeCall,
  type TranscriptDetail,
  transcriptDetails,
} from "../../../call/transcribe.ts";
import type { Model } from "../../../catalog/model.ts";
import { needOf } from "../../../ledger/need.ts";
import { inspectAudio } from "../../../media/audio/audio.ts";
import { toTranscriptionReply } from "../../../wire/v1/transcription/reply.ts";
import type { TranscriptionRequest } from "../../../wire/v1/transcription/request.ts";
import { fieldError, readTranscriptionRequest } from "../../../wire/v1/validate.ts";
import { callerLeft, isCallerLeft } from "../../active-calls.ts";
import type { CallCharge, Measured } from "../../billing/charge.ts";
import type { GatewayDependencies } from "../../dependencies.ts";
import { notProvided } from "../../failures.ts";
import { isLargeBody } from "../../request/read-body.ts";
import type { ServedCall } from "../../served-call.ts";
import { toReplyStream } from "../../stream-reply.ts";
import { FairTurns } from "./fair-turns.ts";
import { openTranscript, TranscriptSource } from "./transcript-source.ts";

/** POST /v1/audio/transcriptions. Preview. */
export async function serveTranscription(served: ServedCall): Promise<Response> {
  const request = readTranscriptionRequest(served.body);
  const detail = detailOf(request);
  const anyLength = fitting(served.dependencies, served.model, detail);
  const audio = await measuredAudio(served);
  const { language, prompt, temperature } = request;
  const call: TranscribeCall = {
    audio,
    detail,
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(temperature === undefined ? {} : { temperature }),
  };
  const model = longEnough(served.dependencies, anyLength, audio.durationS);
  const isStreamed = request.stream === true;
  if (isStreamed) served.stream();
  const seconds = billedAudioSeconds(audio.durationS);
  const { price } = served;
  // Known exactly: the hold is the charge. There are no tokens to limit.
  const admitted = served.admit(needOf({ units: { audioSeconds: seconds }, price }), 0);
  const charge = admitted instanceof Promise ? await admitted : admitted;
  const measured: Measured = {
    units: { audio_second: seconds },
    reasoningTokens: 0,
    estimated: false,
  };
  charge.measure = () => measured;
  if (isLargeBody(served.exchange)) await nextTurn();
  const work = { served, model, call, charge, measured, seconds };
  return isStreamed ? streamed(work) : whole(work, request);
}

interface Work {
  readonly served: ServedCall;
  readonly model: Model;
  readonly call: TranscribeCall;
  readonly charge: CallCharge;
  readonly measured: Measured;
  readonly seconds: number;
}

async function whole(work: Work, request: TranscriptionRequest): Promise<Response> {
  const { served, model, call, charge, measured, seconds } = work;
  const { dependencies, exchange } = served;
  const { signal, onDial } = served.call;
  const transcript = await dependencies.router.serve(model, served.call, async (attempt) => {
    const { provider, target } = attempt;
    if (provider.transcribe === undefined) throw notProvided(model);
    charge.begin(attempt);
    return provider.transcribe({ call, target, signal, onAccepted: charge.accepted, onDial });
  });
  const { response_format: format = "json", timestamp_granularities: wanted = ["segment"] } =
    request;
  const reply = toTranscriptionReply(transcript, {
    format,
    hasSegments: wanted.includes("segment"),
    hasWords: wanted.includes("word"),
    durationS: call.audio.durationS,
    seconds,
  });
  await charge.settle(measured, reply);
  served.end();
  return exchange.reply(reply.body, reply.contentType);
}

async function streamed(work: Work): Promise<Response> {
  const { served, model, call, charge, measured, seconds } = work;
  const { dependencies, exchange } = served;
  const { signal, onDial } = served.call;
  // A failure before the first word still gets its real status.
  const transcript = await dependencies.router.serve(model, served.call, async (attempt) => {
    const { provider, target } = attempt;
    if (provider.streamTranscript === undefined) throw notProvided(model);
    charge.begin(attempt);
    return openTranscript(
      await provider.streamTranscript({
        call,
        target,
        signal,
        onAccepted: charge.accepted,
        onDial,
      }),
    );
  });
  const source = new TranscriptSource({ transcript, seconds, measured, charge });
  const stream = toReplyStream({
    call: served.call,
    source,
    onEnd(error) {
      // How much of the audio a failed stream got through is not known: it is free.
      if (error !== undefined && !isCallerLeft(error)) charge.measure = undefined;
      served.end(error);
    },
  });
  return exchange.events(stream);
}

/** Of this process: measuring takes the event loop, so one file at a time does, and accounts take turns. */
const measuring = new FairTurns();

/** Measuring a large file takes a second of work, so the account must be able to pay for the shortest. */
async function measuredAudio(served: ServedCall): Promise<TranscribeCall["audio"]> {
  const { file, exchange, price, purse } = served;
  if (file === undefined)
    throw fieldError("file", "is required and must be an audio file, sent as multipart/form-data");
  const refused = served.check(needOf({ units: { audioSeconds: 1 }, price }));
  if (refused instanceof Promise) await refused;
  const { signal } = exchange.request;
  const audio = await measuring
    .run(purse.account.id, signal, () => inspectAudio(file.bytes, signal))
    .catch((error: unknown) => {
      throw signal.aborted ? callerLeft("the caller closed the connection") : error;
    });
  if (!audio.ok) throw fieldError("file", audio.problem);
  const { type, durationS } = audio;
  return { bytes: file.bytes, type, durationS };
}

function detailOf(request: TranscriptionRequest): TranscriptDetail {
  const { response_format: format = "json", timestamp_granularities: wanted, stream } = request;
  if (wanted !== undefined && format !== "verbose_json")
    throw fieldError("timestamp_granularities", "needs response_format verbose_json");
  if (format === "json" || format === "text") return "text";
  if (stream === true)
    throw fieldError("stream", `must be false with response_format ${format}. Use json or text`);
  return wanted?.includes("word") === true ? "words" : "segments";
}

/** The model without the routes that do not report the times that the caller asks for. */
function fitting({ router }: GatewayDependencies, model: Model, detail: TranscriptDetail): Model {
  if (detail === "text") return model;
  const rank = (one: TranscriptDetail) => transcriptDetails.indexOf(one);
  const fit = router.narrow(model, (provider, upstreamModel) => {
    const most = provider.transcriptDetail?.(upstreamModel) ?? "words";
    return rank(most) >= rank(detail);
  });
  if (fit.routes.length > 0) return fit;
  throw detail === "words"
    ? fieldError(
        "timestamp_granularities",
        `must not contain word for ${model.id}, which does not report the times of words`,
      )
    : fieldError(
        "response_format",
        `must be json or text for ${model.id}, which does not report timestamps`,
      );
}

/** The model without the routes that do not take audio of this length. */
function longEnough({ router }: GatewayDependencies, model: Model, durationS: number): Model {
  let mostS = 0;
  const fit = router.narrow(model, ({ maxAudioS = Number.POSITIVE_INFINITY }) => {
    mostS = Math.max(mostS, maxAudioS);
    return maxAudioS >= durationS;
  });
  if (fit.routes.length > 0 || model.routes.length === 0) return fit;
  throw fieldError(
    "file",
    `must not last longer than ${mostS} seconds for ${model.id}. Send it in parts`,
  );
}
