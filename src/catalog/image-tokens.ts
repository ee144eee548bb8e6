import type { Model } from "./model.ts";

interface ImageCount {
  /** Found in the upstream's name of a model, in lower case. */
  readonly model: RegExp;
  /** The most tokens that one image can count for, whatever its size and `detail`. */
  readonly tokens: number;
}

/** A base and so much for each square of 512 pixels; at 768 × 2,048, the largest size, there are eight. */
const tiled = (base: number, tile: number) => base + 8 * tile;
/** Squares of 32 pixels, of which there is a most, and a factor of the model. */
const patched = (patches: number, factor = 1) => Math.ceil(patches * factor);

/**
 * What vendors count for an image, by the names of models, the first match counts. From the vendors'
 * guides on vision: OpenAI "Calculating costs", Anthropic "Vision", Google "Media resolution" and
 * "Tokens", xAI "Image understanding", Mistral's image encoder, the model cards of Llama and Qwen.
 */
const counts: readonly ImageCount[] = [
  // The tokens of this one are small change: an image costs what it does with its big sister.
  { model: /gpt-4o-mini/, tokens: tiled(2_833, 5_667) },
  { model: /gpt-(4\.1|5)-nano/, tokens: patched(1_536, 2.46) },
  { model: /gpt-(4\.1|5)-mini/, tokens: patched(1_536, 1.62) },
  { model: /(^|\/)o4-mini/, tokens: patched(1_536, 1.72) },
  { model: /gpt-5\.\d+-nano/, tokens: patched(10_000, 2.46) },
  { model: /gpt-5\.\d+-mini/, tokens: patched(10_000, 1.62) },
  { model: /gpt-5\.\d/, tokens: patched(10_000) },
  { model: /gpt-5(?![\d.])/, tokens: tiled(70, 140) },
  { model: /gpt-4o|gpt-4\.[15](?!\d)|gpt-4-(turbo|vision|1106)/, tokens: tiled(85, 170) },
  { model: /(^|\/)o[13](?!\d)/, tokens: tiled(75, 150) },
  // Newer ones look more closely.
  {
    model: /claude-(3|instant|(opus|sonnet|haiku)-4($|@|-v|-[0-6](?!\d)|-\d{8}))/,
    tokens: 1_600,
  },
  { model: /claude/, tokens: 4_784 },
  { model: /gemini-[3-9]/, tokens: 2_240 },
  // Squares of 258 tokens each; a long strip has the most of them, 24.
  { model: /gemini-(1\.5|2)/, tokens: 24 * 258 },
  { model: /gemma-?3/, tokens: 5 * 256 },
  { model: /grok/, tokens: 7 * 256 },
  { model: /pixtral/, tokens: 64 * 65 },
  { model: /(mistral|ministral|magistral)-/, tokens: 55 * 56 },
  { model: /llama-?3\.?2/, tokens: 4 * 1_601 },
  { model: /llama-?4/, tokens: 17 * 144 + 64 },
  { model: /qwen|qvq/, tokens: 16_384 },
];

/**
 * Of a model that is not known: what the Qwen family counts, the most of all that people run
 * themselves. An image is held at this many tokens and charged at what the upstream counts.
 */
const unknownTokens = 16_384;

const known = new WeakMap<Model, number>();

/** The most tokens that an image in a message can count for: as the catalog says, else by its routes. */
export function maxImageTokens(model: Model): number {
  const found = known.get(model);
  if (found !== undefined) return found;
  const most = model.maxImageTokens ?? Math.max(...model.routes.map(({ model }) => countOf(model)));
  const tokens = Number.isFinite(most) ? most : unknownTokens;
  known.set(model, tokens);
  return tokens;
}

/** Whether a model is known to take images: the catalog sets a maximum, or a route names one that does. */
export function seesImages({ maxImageTokens: most, routes }: Model): boolean {
  return most !== undefined || routes.some(({ model }) => knownCount(model) !== undefined);
}

const countOf = (name: string) => knownCount(name) ?? unknownTokens;

function knownCount(name: string): number | undefined {
  const text = name.toLowerCase();
  return counts.find(({ model }) => model.test(text))?.tokens;
}
