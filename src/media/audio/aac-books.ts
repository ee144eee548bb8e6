/**
 * The Huffman codebooks of AAC (ISO/IEC 14496-3, annex 4.A) without their values: how many bits a
 * codeword has, and how many follow it for signs and escapes.
 */
export interface Codebook {
  /** Coefficients that one codeword stands for. */
  readonly width: number;
  /** By the next ten bits: the bits of the codeword and its signs, and 32 for each escape. */
  readonly short: Uint8Array;
  /** Those of longer codewords, which start at `longStart` of the codewords of most bits. */
  readonly long: Uint8Array;
  readonly longStart: number;
  /** Of the next 32 bits, to the length of the longest codeword. */
  readonly longShift: number;
}

/** The longest codeword with its signs. */
export const windowBits = 20;
export const shortBits = 10;

/**
 * The codewords of each book count upward, the shortest first: their lengths tell their bits. Each
 * digit is a codeword's number of signs; "a" to "c" stand for signs with escapes.
 */
const books: readonly (readonly [width: number, lengths: string])[] = [
  [1, "1x1 3x1 4x3 5x2 6x4 7x3 8x5 9x4 10x6 11x6 12x6 13x5 14x8 15x4 16x7 17x3 18x7 19x46"],
  [4, "1x1 5x8 7x24 9x24 10x8 11x16"],
  [4, "3x1 4x1 5x7 6x24 7x15 8x19 9x14"],
  [
    4,
    "1:0 4:1111 5:22 6:222323 7:433 8:11223 9:232331221224334 10:323244332333223 11:24334423 " +
      "12:333334444 13:223 14:343 15:44432 16:33",
  ],
  [
    4,
    "4:4333312022 5:221211 7:444433333 8:333333322222222222211 9:11444444 10:33333333343334 " +
      "11:44222222433 12:33",
  ],
  [2, "1x1 4x4 5x4 7x4 8x12 9x12 10x12 11x18 12x10 13x4"],
  [2, "4x9 6x16 7x13 8x8 9x23 10x8 11x4"],
  [
    2,
    "1:0 3:11 4:2 6:2211 7:22211 8:2222222211 9:22212122222222 10:211222222222222 11:11222222 " +
      "12:2222",
  ],
  [2, "3:2 4:21212 5:0112222 6:2222211222 7:22222221212222 8:222121222222222 9:22121222 10:2112"],
  [
    2,
    "1:0 3:11 4:2 6:2211 7:222 8:11222222 9:22112222222 10:12122222222122222222 " +
      "11:1222122221222211222222222222212 12:22122222222222222222222122122222221222 " +
      "13:22222222222212212222122222222222 14:22222222222222 15:2222",
  ],
  [
    2,
    "4:222 5:21122222 6:11222202211222 7:22222222212122222 8:2222222121222222222222222 " +
      "9:2221222221222222222222222221212 10:22222212222221222222222222222221212122222 " +
      "11:2222222222121222122212 12:22222122",
  ],
  [
    2,
    "4:02 5:c11222 6:2221212 7:2222221122222222 8:2222222bbbbb2b121b2bbbb22222bb22bbb22b2bbb2" +
      "b22bb2221bb22221 9:2bb22b2b2222222b221222222122222222222222122222222222a22 " +
      "10:2222a21222222222222222222222222222222122222222222222222212222222222222222222222222221" +
      "1222222222 11:2222222222222222212212122212222211222212212 12:112112",
  ],
];

/** The bits of signs, and 32 for each escape. */
const skips: Readonly<Record<string, number>> = { a: 1 + 32, b: 2 + 32, c: 2 + 64 };

function toCodebook([width, lengths]: readonly [width: number, lengths: string]): Codebook {
  const codewords = lengths.split(" ").flatMap((run) => {
    const [bits = "", rest = ""] = run.split(/[x:]/);
    const digits = run.includes("x") ? Array<string>(Number(rest)).fill("0") : [...rest];
    return digits.map((digit) => ({ bits: Number(bits), skip: skips[digit] ?? Number(digit) }));
  });
  const mostBits = Math.max(shortBits, ...codewords.map(({ bits }) => bits));
  const entries = new Uint8Array(2 ** mostBits);
  const short = new Uint8Array(2 ** shortBits);
  let longStart = 0;
  let at = 0;
  for (const { bits, skip } of codewords) {
    const end = at + 2 ** (mostBits - bits);
    entries.fill(bits + skip, at, end);
    if (bits <= shortBits) {
      const step = 2 ** (mostBits - shortBits);
      short.fill(bits + skip, at / step, end / step);
      longStart = end;
    }
    at = end;
  }
  // Each row of bits is a codeword, so the reader needs no check of its own.
  if (at !== entries.length) throw new Error("a codebook of AAC is incomplete");
  const longShift = 32 - mostBits;
  return { width, short, long: entries.slice(longStart), longStart, longShift };
}

let built: readonly Codebook[] | undefined;

/** The scale factors' book comes first, then books 1 to 11. */
export function codebooks(): readonly Codebook[] {
  built ??= books.map(toCodebook);
  return built;
}

/** The widths of the bands of a long window, as "width×count", for each rate index. */
const longBands = [
  "4x14 8x5 12x5 16x2 24 28 36 44 64x11",
  "4x14 8x4 12x3 16x3 20 24x2 28 36 40x18",
  "4x10 8x7 12x4 16x2 20x2 24x2 28x2 32x19 96",
  "4x10 8x7 12x4 16x2 20x2 24x2 28x2 32x22",
  "4x11 8x10 12x4 16x3 20x2 24x2 28x2 32 36x2 40 44 48 52x2 64x5",
  "8x11 12x9 16x4 20x3 24x2 28x2 32 36 40x2 44 48 52 56 60 64x3",
  "12x13 16x7 20x4 24x3 28x2 32 36x2 40 44 48 52 56 60 64 80",
];
/** Those of each of eight short windows. */
const shortBands = [
  "4x6 8x3 16 28 36",
  "4x5 8x3 12x3 16x3",
  "4x7 8x3 12x2 16x2 20",
  "4x8 8x2 12x2 16 20x2",
  "4x7 8x4 12 16 20x2",
];

export interface Bands {
  readonly long: readonly number[];
  readonly short: readonly number[];
}

/** By the index of a rate: 96,000 first and 7,350 last. */
export function bandsOf(rateIndex: number): Bands {
  const toWidths = (text: string) =>
    text.split(" ").flatMap((run) => {
      const [width, count = 1] = run.split("x").map(Number);
      return Array<number>(count).fill(width ?? 0);
    });
  return {
    long: toWidths(longBands[Number("0012234455566"[rateIndex])] ?? ""),
    short: toWidths(shortBands[Number("0001112233344"[rateIndex])] ?? ""),
  };
}
