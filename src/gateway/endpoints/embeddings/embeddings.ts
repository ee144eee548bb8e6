import { nextTurn } from "../../../base/clock.ts";
import type { Json } from "../../../call/chat.ts";
import { type EmbedInput, type EmbedResult, lengthOf } from "../../../call/embed.ts";
import { hasOwnLength } from "../../../catalog/vector-lengths.ts";
import { inspectImage } from "../../../media/image.ts";
import { billedVideoSeconds, inspectVideo } from "../../../media/video.ts";
import {
  type MediaInput,
  readMediaInput,
  readTextInput,
} from "../../../wire/v1/embeddings/input.ts";
import {
  type EmbeddingsReply,
  type EmbeddingUsage,
  embeddingsReplyPieces,
  toEmbeddingsReply,
} from "../../../wire/v1/embeddings/reply.ts";
import { fieldError, readEmbeddingRequest } from "../../../wire/v1/validate.ts";
import { notProvided } from "../../failures.ts";
import { checkTextBytes, isLargeBody, largeBodyBytes } from "../../request/read-body.ts";
import type { ServedCall } from "../../served-call.ts";
import { countTokens, embeddingNeed, toMeasured } from "./embeddings-money.ts";

const defaultDimensions = 3072;
/** Writing out more takes as long as reading them did: others have the event loop in between. */
const numbersPerTurn = 50_000;

/** POST /v1/embeddings */
export async function serveEmbeddings(served: ServedCall): Promise<Response> {
  const { dependencies, exchange, body, model, call } = served;
  const isMedia = model.input === "media";
  if (isMedia && body["dimensions"] !== undefined)
    throw fieldError(
      "dimensions",
      `is not supported by ${model.id}. Omit it; it applies to text embeddings only`,
    );
  if (!isMedia) checkTextBytes(exchange, "input", () => textsIn(body["input"]));
  const request = readEmbeddingRequest(body);
  const input = isMedia ? await inspect(readMediaInput(body)) : readTextInput(body);
  const encoding = request.encoding_format ?? "float";
  const { need, tokens } = embeddingNeed(input, served.price);
  const admitted = served.admit(need, tokens);
  const charge = admitted instanceof Promise ? await admitted : admitted;
  const { counter } = dependencies;
  if (isLargeBody(exchange)) await nextTurn();
  const result = await dependencies.router.serve(model, call, async (attempt) => {
    const { provider, target } = attempt;
    if (provider.embed === undefined) throw notProvided(model);
    charge.begin(attempt);
    const isUsualLength = request.dimensions === undefined;
    const usual = isMedia || hasOwnLength(target) ? undefined : defaultDimensions;
    const dimensions = request.dimensions ?? usual;
    const embedded = await provider.embed({
      call: { input, dimensions, encoding, isUsualLength },
      target,
      signal: call.signal,
      onAccepted: charge.accepted,
      onDial: call.onDial,
    });
    checkLengths({ result: embedded, dimensions: request.dimensions, model: model.id });
    return embedded;
  });
  // A count of nothing is none.
  const told = result.usage?.inputTokens === 0 ? undefined : result.usage?.inputTokens;
  const used = told ?? (await countTokens(input, counter, served.key.accountId));
  const { vectors } = result;
  const reply = { model: served.asked, vectors, encoding, usage: toWireUsage(input, used) };
  const isLong = vectors.length * lengthOf(vectors[0] ?? []) > numbersPerTurn;
  const text = isLong ? await writeInTurns(reply) : toEmbeddingsReply(reply);
  const isEstimate = told === undefined && input.kind === "texts";
  await charge.settle(toMeasured(input, used, isEstimate), {
    contentType: "application/json",
    body: text,
  });
  served.end();
  return exchange.json(text);
}

/** Before the request is validated, which takes longer. */
function textsIn(input: Json | undefined): readonly string[] {
  const entries: readonly Json[] = Array.isArray(input) ? input : [input ?? null];
  return entries.filter((entry) => typeof entry === "string");
}

async function writeInTurns(reply: EmbeddingsReply): Promise<string> {
  const pieces: string[] = [];
  let numbers = numbersPerTurn;
  for (const piece of embeddingsReplyPieces(reply)) {
    if (numbers >= numbersPerTurn) {
      await nextTurn();
      numbers = 0;
    }
    pieces.push(piece);
    numbers += lengthOf(reply.vectors[0] ?? []);
  }
  await nextTurn();
  return pieces.join("");
}

/** A caller who named a length gets vectors of that length, never silently others. */
function checkLengths(options: {
  readonly result: EmbedResult;
  readonly dimensions: number | undefined;
  readonly model: string;
}): void {
  const { result, dimensions, model } = options;
  if (dimensions === undefined) return;
  for (const vector of result.vectors) {
    const length = lengthOf(vector);
    // The caller's mistake: a model with a fixed length has it on every target.
    if (length !== dimensions)
      throw fieldError(
        "dimensions",
        `must be omitted for ${model}. Its vectors always have ${length} dimensions`,
      );
  }
}

/** What is billed or limited is looked at here, before anything reaches an upstream. */
async function inspect(media: MediaInput): Promise<EmbedInput> {
  if (media.kind === "images") {
    let sinceTurn = 0;
    for (const [at, dataUri] of media.dataUris.entries()) {
      if (sinceTurn > largeBodyBytes) {
        await nextTurn();
        sinceTurn = 0;
      }
      sinceTurn += dataUri.length;
      const inspected = inspectImage(dataUri);
      const image = inspected instanceof Promise ? await inspected : inspected;
      if (!image.ok) throw fieldError(media.isList ? `input[${at}]` : "input", image.problem);
    }
    return media;
  }
  const video = inspectVideo(media.base64);
  if (!video.ok) throw fieldError(media.param, video.problem);
  return { kind: "video", base64: media.base64, durationS: video.durationS };
}

function toWireUsage(input: EmbedInput, tokens: number): EmbeddingUsage {
  switch (input.kind) {
    case "images":
      return { prompt_tokens: 0, total_tokens: 0, images: input.dataUris.length };
    case "video":
      return {
        prompt_tokens: 0,
        total_tokens: 0,
        video_seconds: billedVideoSeconds(input.durationS),
      };
    case "texts":
    case "tokens":
      return { prompt_tokens: tokens, total_tokens: tokens };
    default:
      return input satisfies never;
  }
}
