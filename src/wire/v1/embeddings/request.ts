import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { filled, modelId, named, optionalText, told } from "../schema.ts";

export const maxTexts = 100;
const maxImages = 8;

const textForms = `a string, a list of 1 to ${maxTexts} strings, or token ids`;
const mediaForms = `a list of 1 to ${maxImages} image data URIs, or {"video":{"bytesBase64Encoded":"…"}}`;

const tokenId = Type.Integer({ minimum: 0, "x-says": "a token id (an integer of at least 0)" });
const tokenList = Type.Array(tokenId, {
  minItems: 1,
  ...told("One text as token ids.", "a list of at least one token id"),
});
const video = Type.Object(
  {
    video: Type.Object(
      {
        bytesBase64Encoded: Type.String(
          told("MP4 or WebM, at most 6 seconds and 307,200 bytes.", "a base64 string"),
        ),
      },
      told("The video.", "an object with bytesBase64Encoded"),
    ),
  },
  { ...named("VideoInput", "One video."), "x-says": mediaForms },
);

/** The forms that `input` may have; which of them, the model decides. */
export const inputForms = {
  text: filled("One text.", "a non-empty string"),
  texts: Type.Array(
    Type.String({ minLength: 1, "x-says": "a non-empty string, like the other entries" }),
    {
      minItems: 1,
      maxItems: maxTexts,
      ...told(`Up to ${maxTexts} texts.`, textForms),
    },
  ),
  tokens: tokenList,
  tokenLists: Type.Array(tokenList, {
    minItems: 1,
    maxItems: maxTexts,
    ...told(
      `Up to ${maxTexts} texts as token ids.`,
      `a list of 1 to ${maxTexts} lists of token ids`,
    ),
  }),
  image: filled("One image as a data URI: data:image/…;base64,….", "an image data URI"),
  images: Type.Array(
    Type.String({
      minLength: 1,
      "x-says": "an image data URI, like the other entries. Images and videos cannot be mixed",
    }),
    {
      minItems: 1,
      maxItems: maxImages,
      ...told(
        `Up to ${maxImages} images (PNG, JPEG, WebP or GIF), each as data:image/…;base64,….`,
        mediaForms,
      ),
    },
  ),
  video,
  videos: Type.Array(video, {
    minItems: 1,
    maxItems: 1,
    ...told(
      "One video, in a list.",
      "a list of one video. Send one video per request, with no other input",
    ),
  }),
} as const;

const { text, texts, tokens, tokenLists, image, images, videos } = inputForms;

export const embeddingRequest = Type.Object(
  {
    model: modelId("embeddings"),
    input: Type.Union([text, texts, tokens, tokenLists, image, images, video, videos], {
      ...told(
        `Text models accept ${textForms}. Image and video models accept ${mediaForms}.`,
        `${textForms}; or, for image and video models, ${mediaForms}`,
      ),
    }),
    dimensions: Type.Optional(
      Type.Enum(
        [768, 1536, 3072],
        // No `default`: generated clients would send it to models of images, which refuse it.
        told("Length of the vectors. Default: 3072. Text models only.", "768, 1536 or 3072"),
      ),
    ),
    encoding_format: Type.Optional(
      Type.Enum(
        ["float", "base64"],
        told(
          "Numbers (the default), or little-endian float32 values in base64.",
          '"float" or "base64"',
        ),
      ),
    ),
    user: optionalText("Your identifier for the end user."),
  },
  named("EmbeddingRequest", "An embeddings request."),
);

/** The fields that do not depend on the model; embeddings-input.ts reads the other. */
export const embeddingFields = Type.Omit(embeddingRequest, ["input"]);

export type EmbeddingRequest = Static<typeof embeddingFields>;
