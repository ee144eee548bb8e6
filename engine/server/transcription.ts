import {
  EngineError,
  type TranscriptionJob,
  type TranscriptionPiece,
  type TranscriptionResult,
} from "../contract.ts";
import { type Body, errorReply } from "./body.ts";
import type { ModelProcess } from "./model-process.ts";

/** `POST /v1/audio/transcriptions`: JSON with segments, or events as they are recognized. */
export async function answerTranscription(options: {
  readonly model: ModelProcess;
  readonly body: Body;
  readonly signal: AbortSignal;
}): Promise<Response> {
  const { model, body, signal } = options;
  const job = await toJob(body);
  if (body["stream"] === "true") return streamTranscription({ model, job, signal });
  const segments: TranscriptionPiece[] = [];
  const result = (await model.run(job, signal, (piece) => {
    if (isSegment(piece)) segments.push(piece);
  })) as TranscriptionResult;
  return Response.json({
    task: "transcribe",
    language: result.language,
    duration: result.durationS,
    text: textOf(segments),
    segments: segments.map(({ startS, endS, text }, id) => ({
      id,
      start: startS,
      end: endS,
      text,
    })),
  });
}

interface StreamOptions {
  readonly model: ModelProcess;
  readonly job: TranscriptionJob;
  readonly signal: AbortSignal;
}

/** A failure before the first word has its own status. */
async function streamTranscription({ model, job, signal }: StreamOptions): Promise<Response> {
  const left = new AbortController();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  // At most the text of one file waits here for a slow reader.
  const stream = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
    },
    cancel: () => left.abort(new Error("the caller disconnected")),
  });
  const send = (event: object) =>
    controller?.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
  const segments: TranscriptionPiece[] = [];
  const result = model.run(job, AbortSignal.any([signal, left.signal]), (piece) => {
    if (!isSegment(piece)) return;
    const delta = segments.length === 0 ? piece.text.trimStart() : piece.text;
    segments.push(piece);
    send({ type: "transcript.text.delta", delta });
    begin();
  });
  await Promise.race([begun, result]);
  void result
    .then(
      () => send({ type: "transcript.text.done", text: textOf(segments) }),
      async (error: unknown) => send((await errorReply(error).json()) as object),
    )
    .then(() => controller?.close())
    .catch(() => {});
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

const isSegment = (piece: unknown): piece is TranscriptionPiece =>
  (piece as TranscriptionPiece).text !== "";

const textOf = (segments: readonly TranscriptionPiece[]) =>
  segments
    .map(({ text }) => text)
    .join("")
    .trim();

async function toJob({ file, language }: Body): Promise<TranscriptionJob> {
  if (!(file instanceof Blob))
    throw new EngineError({ message: "file must be an audio file.", param: "file" });
  const audio = await file.bytes();
  return { audio, ...(typeof language === "string" ? { language } : {}) };
}
