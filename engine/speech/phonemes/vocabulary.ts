/**
 * Kokoro's symbols and their numbers, from the model's published configuration. American English uses
 * few of them: capitals are diphthongs (A as in day, I my, O go, W now, Y boy), T is the tapped t of
 * "water", ᵊ and ᵻ are reduced vowels.
 */
const symbolsById: ReadonlyArray<readonly [first: number, symbols: string]> = [
  [1, ";:,.!?"],
  [9, '—…"()“” \u0303ʣʥʦʨᵝ\uab67AI'],
  [31, "O"],
  [33, "Q"],
  [35, "ST"],
  [39, "W"],
  [41, "Yᵊabcdef"],
  [50, "hijklmnopqrstuvwxyzɑɐɒæ"],
  [75, "βɔɕç"],
  [80, "ɖðʤə"],
  [85, "ɚɛɜ"],
  [90, "ɟ"],
  [92, "ɡ"],
  [99, "ɥ"],
  [101, "ɨɪʝ"],
  [110, "ɯɰŋɳɲɴø"],
  [118, "ɸθœ"],
  [123, "ɹ"],
  [125, "ɾɻ"],
  [128, "ʁɽʂʃʈʧ"],
  [135, "ʊʋ"],
  [138, "ʌɣɤ"],
  [142, "χʎ"],
  [147, "ʒʔ"],
  [156, "ˈˌː"],
  [162, "ʰ"],
  [164, "ʲ"],
  [169, "↓"],
  [171, "→↗↘"],
  [177, "ᵻ"],
];

export const vocabulary: ReadonlyMap<string, number> = new Map(
  symbolsById.flatMap(([first, symbols]) =>
    Array.from(symbols, (symbol, index) => [symbol, first + index] as const),
  ),
);

/** The most symbols the model takes at once: its 512 positions less the padding at both ends. */
export const maximumSymbols = 510;

/** Numbers for a string of phonemes; a symbol the model does not know is left out. */
export function toSymbolIds(phonemes: string): number[] {
  const ids: number[] = [];
  for (const symbol of phonemes) {
    const id = vocabulary.get(symbol);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}
