import type { ModeProps } from "../mode.ts";
import { MediaEmbeddings } from "./media-embeddings.tsx";
import { TextEmbeddings } from "./text-embeddings.tsx";

/** What a model takes decides what is asked for. */
export function EmbeddingsMode(props: ModeProps) {
  return props.model.input === "media" ? (
    <MediaEmbeddings {...props} />
  ) : (
    <TextEmbeddings {...props} />
  );
}
