import type { Model } from "./model.ts";

interface ContextSize {
  /** Found in the upstream's name of a model, in lower case. */
  readonly model: RegExp;
  /** The most tokens that a prompt can have. */
  readonly tokens: number;
}

/**
 * By the names of models; the first match counts. From general knowledge, not checked against each
 * vendor's page: a number that is too small makes a hold too small.
 */
const sizes: readonly ContextSize[] = [
  // Longer ones need a header that we do not send.
  {
    model: /claude-(3|instant|v?2|(opus|sonnet|haiku)-4($|[@:]|-v|-[015](?!\d)|-\d{8}))/,
    tokens: 200_000,
  },
  { model: /claude/, tokens: 1_000_000 },
  { model: /gemini-1\.5-pro/, tokens: 2_097_152 },
  { model: /gemini/, tokens: 1_048_576 },
  { model: /gpt-4[.-]1(?!\d)|gpt-5\.\d/, tokens: 1_050_000 },
  { model: /gpt-4o|gpt-4-/, tokens: 128_000 },
  { model: /gpt-5/, tokens: 400_000 },
  { model: /(^|\/)o[134](?!\d)/, tokens: 200_000 },
];

/** Of a model that is not known: as long as those of most vendors are at most. */
const unknownTokens = 1_048_576;

const known = new WeakMap<Model, number>();

/** The most tokens that a prompt can have: as the operator says, else by the routes of a model. */
export function maxContextTokens(model: Model): number {
  if (model.contextLength !== undefined) return model.contextLength;
  const found = known.get(model);
  if (found !== undefined) return found;
  const most = Math.max(...model.routes.map(({ model: name }) => sizeOf(name)));
  const tokens = Number.isFinite(most) ? most : unknownTokens;
  known.set(model, tokens);
  return tokens;
}

function sizeOf(name: string): number {
  const text = name.toLowerCase();
  return sizes.find(({ model }) => model.test(text))?.tokens ?? unknownTokens;
}
