import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { Problem } from "../../base/problem.ts";
import { type ImageMime, sniffImage } from "../../media/image.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import type { BodyPiece } from "./curl-line.ts";

/** One request: a label for each embedded item, and the `input` field. */
export interface EmbedRequest {
  readonly labels: readonly string[];
  /** JSON in pieces; files are read when they are sent. */
  readonly input: readonly BodyPiece[];
}

export function textRequest(texts: readonly string[]): EmbedRequest {
  return { labels: texts, input: [JSON.stringify(texts)] };
}

/** The API takes several images per request, but only one video. */
export function mediaRequests(media: {
  /** Images or videos, detected by their content. */
  readonly files: readonly string[];
  readonly images: readonly string[];
  readonly videos: readonly string[];
}): readonly EmbedRequest[] {
  const files = media.files.map((file) => ({ file, type: typeOf(file) }));
  const images = [...media.images.map(asImage), ...files.filter(isImage)];
  const videos = [...media.videos.map(asVideo), ...files.filter(({ type }) => type === undefined)];
  return [
    ...(images.length === 0 ? [] : [imageRequest(images)]),
    ...videos.map(({ file }) => ({
      labels: [file],
      input: ['{"video":{"bytesBase64Encoded":"', { file }, '"}}'],
    })),
  ];
}

/** The whole body in pieces; adjacent texts are merged. */
export function embedBody(
  { input }: EmbedRequest,
  fields: { readonly model: string; readonly dimensions: number | undefined },
): readonly BodyPiece[] {
  const head = `${JSON.stringify(fields).slice(0, -1)},"input":`;
  const pieces: BodyPiece[] = [];
  for (const piece of [head, ...input, "}"]) {
    const before = pieces.at(-1);
    if (typeof before === "string" && typeof piece === "string")
      pieces[pieces.length - 1] = before + piece;
    else pieces.push(piece);
  }
  return pieces;
}

export function bodyText(pieces: readonly BodyPiece[]): string {
  return pieces
    .map((piece) => (typeof piece === "string" ? piece : readFileSync(piece.file, "base64")))
    .join("");
}

interface Image {
  readonly file: string;
  readonly type: ImageMime;
}

function imageRequest(images: readonly Image[]): EmbedRequest {
  return {
    labels: images.map(({ file }) => file),
    input: [
      "[",
      ...images.flatMap(({ file, type }, at) => [
        `${at === 0 ? "" : ","}"data:${type};base64,`,
        { file },
        '"',
      ]),
      "]",
    ],
  };
}

function isImage(one: {
  readonly file: string;
  readonly type: ImageMime | undefined;
}): one is Image {
  return one.type !== undefined;
}

function asImage(file: string): Image {
  const type = typeOf(file);
  if (type === undefined)
    throw new Problem({
      code: "invalid",
      message: `${file} is not a PNG, JPEG, WebP or GIF image.`,
    });
  return { file, type };
}

function asVideo(file: string) {
  if (typeOf(file) !== undefined)
    throw new Problem({ code: "invalid", message: `${file} is an image, not a video.` });
  return { file };
}

/** A body has at most 32 MiB, and base64 turns three bytes into four. */
const maxFileBytes = 24 * 1024 * 1024;

/** By its content, since names can be wrong; undefined: not an image. */
function typeOf(file: string): ImageMime | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new Error("not a file");
    if (stat.size > maxFileBytes)
      throw new Problem({
        code: "invalid",
        message: `${file} is larger than 24 MiB, the maximum for a file.`,
      });
    const start = new Uint8Array(16);
    return sniffImage(start.subarray(0, readSync(descriptor, start)));
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem({ code: "not_found", message: fileProblem(file, cause), cause });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
