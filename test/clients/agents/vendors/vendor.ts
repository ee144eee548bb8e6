import type { Json, JsonObject } from "../../../../src/call/chat.ts";
import type { Recording } from "../../../fake/recordings.ts";
import type { RecordedRequest } from "../../../fake/upstream.ts";
import type { Turn } from "../conversation.ts";

/** An upstream that plays the conversation in the bytes of one vendor. */
export interface Vendor {
  /** As the names of the checks have it. */
  readonly title: string;
  /** Its entry in svc.yaml; UPSTREAM stands for the fake's base URL. */
  readonly provider: string;
  readonly upstreamModel: string;
  /** Where it takes the calls. */
  readonly path: string;
  /** Whether it signs what it thinks, and wants that back. */
  readonly signs: boolean;
  /** A request that it refuses, which the gateway must get over by itself; it has no turn. */
  readonly refuse?: (request: RecordedRequest) => Recording | undefined;
  /** One turn as a stream. */
  readonly toStream: (turn: Turn) => Recording;
  /** What a request repeats of the conversation so far. */
  readonly toHistory: (body: JsonObject) => History;
}

/** What a vendor must get back unchanged. */
export interface History {
  /** `id name`, in their order. */
  readonly calls: readonly string[];
  readonly signatures: readonly string[];
  /** The text of each result, by the id of its call. */
  readonly results: ReadonlyMap<string, string>;
}

export const connection = 'base_url: "UPSTREAM", api_key: "${FAKE_KEY}", allow_private: true';

/** The arguments as a vendor without tools for free text has them. */
export const argumentsOf = ({ arguments: given, freeText }: Turn["calls"][number]) =>
  freeText === undefined ? given : { input: freeText };

/** A text in two pieces, so that nothing rests on its coming at once. */
export function inTwo(text: string): readonly string[] {
  const points = [...text];
  const half = Math.ceil(points.length / 2);
  return [points.slice(0, half), points.slice(half)].map((piece) => piece.join(""));
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (entry): entry is JsonObject =>
      typeof entry === "object" && entry !== null && !Array.isArray(entry),
  );
}

/** All text of a content that is a string or a list of parts. */
export function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}
