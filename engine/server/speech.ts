import { EngineError, type SpeechJob, voiceNames } from "../contract.ts";
import type { Body } from "./body.ts";
import type { ModelProcess } from "./model-process.ts";

const maxCharacters = 5_000;

/** `POST /v1/audio/speech`: PCM as it is spoken; its length is not known before. */
export async function answerSpeech(options: {
  readonly model: ModelProcess;
  readonly body: Body;
  readonly style: SpeechJob["style"];
  readonly signal: AbortSignal;
}): Promise<Response> {
  const { model, body, style, signal } = options;
  const job = toSpeechJob(body, style);
  const left = new AbortController();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  // A text of the greatest length is some 15 MB of audio: that much may wait for a slow reader.
  const stream = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
    },
    cancel: () => left.abort(new Error("the caller disconnected")),
  });
  const result = model.run(job, AbortSignal.any([signal, left.signal]), (piece) => {
    if (!(piece instanceof Int16Array)) return;
    controller?.enqueue(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
    begin();
  });
  await Promise.race([begun, result]);
  void result
    .then(
      () => controller?.close(),
      // Broken off, not ended: whoever reads must not take it for the whole.
      (error: unknown) => controller?.error(error),
    )
    .catch(() => {});
  return new Response(stream, { headers: { "content-type": "audio/pcm" } });
}

function toSpeechJob(body: Body, style: SpeechJob["style"]): SpeechJob {
  const { input, voice: wanted, response_format: format } = body;
  if (typeof input !== "string" || input === "" || [...input].length > maxCharacters)
    throw new EngineError({
      message: `input must be a string of 1 to ${maxCharacters} characters.`,
      param: "input",
    });
  const voice = voiceNames.find((name) => name === wanted);
  if (voice === undefined)
    throw new EngineError({
      message: `voice must be one of ${voiceNames.join(", ")}.`,
      param: "voice",
    });
  if (format !== undefined && format !== "pcm")
    throw new EngineError({ message: "response_format must be pcm.", param: "response_format" });
  return { text: input, voice, style };
}
