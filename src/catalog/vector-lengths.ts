import type { Route } from "./model.ts";

/**
 * Models that cannot return 3,072 numbers, by the names that they have at their vendors. They are
 * not asked for a length that no caller named. The list is from general knowledge and not checked
 * against each vendor's guide: a route's `dimensions` wins over it. A model that is not here is
 * asked, and learnt by its answer.
 */
const shorter: readonly RegExp[] = [
  /text-embedding-(3-small|ada)/,
  // Google's before gemini-embedding-001.
  /text-embedding-00\d|text-multilingual-embedding|textembedding-gecko|(^|\/)embedding-001/,
  /titan-embed/,
  /cohere\.embed|(^|\/)embed-(v\d|english|multilingual)/,
  /mistral-embed/,
  /voyage-/,
  /jina-(clip|embeddings)/,
  /qwen3-embedding[-:](0\.6|4)b/,
  /nomic-embed|mxbai-embed|all-minilm|embeddinggemma|arctic-embed|granite-embedding/,
  /(^|[/-])(bge|gte|e5)-/,
];

const known = new WeakMap<Route, boolean>();

/** Whether the model gives vectors of its own length where the caller names none. */
export function hasOwnLength(route: Route): boolean {
  const found = known.get(route);
  if (found !== undefined) return found;
  const { dimensions, model } = route;
  const name = model.toLowerCase();
  const isOwn =
    dimensions === undefined ? shorter.some((one) => one.test(name)) : dimensions === "own";
  known.set(route, isOwn);
  return isOwn;
}
