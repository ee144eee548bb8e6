/** Answers of `:predict`, `:embedContent` and the list of models, as Google documents them. */

import { jsonReply, type Recording } from "../http/reply.ts";

const headers = { server: "scaffolding on HTTPServer2", vary: "Origin, X-Origin, Referer" };

function predictions(all: readonly unknown[]): Recording {
  return jsonReply({ headers, body: { predictions: all, deployedModelId: "4893216732456878080" } });
}

export function imagePrediction(imageEmbedding: readonly number[]): Recording {
  return predictions([{ imageEmbedding }]);
}

/** A piece of the video each. */
export function videoPrediction(vectors: readonly (readonly number[])[]): Recording {
  const videoEmbeddings = vectors.map((embedding, at) => ({
    startOffsetSec: at * 4,
    endOffsetSec: at * 4 + 4,
    embedding,
  }));
  return predictions([{ videoEmbeddings }]);
}

export interface TextPrediction {
  readonly values: readonly number[];
  /** Left out: the model does not tell. */
  readonly tokens?: number;
}

export function textPredictions(all: readonly TextPrediction[]): Recording {
  return predictions(
    all.map(({ values, tokens }) => ({
      embeddings: {
        values,
        ...(tokens === undefined ? {} : { statistics: { truncated: false, token_count: tokens } }),
      },
    })),
  );
}

export function contentEmbedding(values: readonly number[], tokens?: number): Recording {
  const usage = tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens } };
  return jsonReply({ headers, body: { embedding: { values }, truncated: false, ...usage } });
}

export function publisherModels(
  models: readonly { readonly name: string; readonly versionId: string }[],
  nextPageToken?: string,
): Recording {
  const publisherModelsOfPage = models.map(({ name, versionId }) => ({
    name: `publishers/google/models/${name}`,
    versionId,
    openSourceCategory: "PROPRIETARY",
    launchStage: "GA",
  }));
  const next = nextPageToken === undefined ? {} : { nextPageToken };
  return jsonReply({ headers, body: { publisherModels: publisherModelsOfPage, ...next } });
}

function refusal(code: number, status: string, message: string): Recording {
  return jsonReply({ status: code, headers, body: { error: { code, message, status } } });
}

export const vertexRefusals = {
  endedToken: () =>
    refusal(
      401,
      "UNAUTHENTICATED",
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    ),
  noPermission: () =>
    refusal(
      403,
      "PERMISSION_DENIED",
      "Permission 'aiplatform.endpoints.predict' denied on resource (or it may not exist).",
    ),
  tooLong: () =>
    refusal(
      400,
      "INVALID_ARGUMENT",
      "The input token count is 3001 but the model supports up to 2048.",
    ),
  limited: () => refusal(429, "RESOURCE_EXHAUSTED", "Quota exceeded for online prediction."),
} as const;
