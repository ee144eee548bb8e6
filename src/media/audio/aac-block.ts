import { UnreadableMedia, viewOf } from "../frames.ts";
import {
  type Bands,
  bandsOf,
  type Codebook,
  codebooks,
  shortBits,
  windowBits,
} from "./aac-books.ts";

const singleChannel = 0;
const channelPair = 1;
const lowFrequencies = 3;
const dataStream = 4;
const programConfiguration = 5;
const fill = 6;
const blockEnd = 7;

const eightShort = 2;
const shortWindows = 8;

const escapeBook = 11;
const reservedBook = 12;
const noiseBook = 13;

const maxTnsOrder = 12;
const maxEscapePrefix = 8;

/** Of the 32 bits that are read at once, from any bit of the first byte on. */
const leastUnused = 25;
const shortShift = 32 - shortBits;

const dynamicRange = 11;
const bandReplication = 13;
const checkedBandReplication = 14;
/** Beyond these, FFmpeg reads one bit fewer than it counts. */
const maxExclusions = 8;

interface Window {
  readonly isShort: boolean;
  readonly bands: number;
  /** How many windows share each set of scale factors. */
  readonly groups: readonly number[];
}

/**
 * Finds where a block of AAC-LC ends (`raw_data_block` of ISO/IEC 14496-3, table 4.3). Decoders go
 * on behind its end and play the next block, so nothing but zeros may follow it in its packet. All
 * lengths are read and no value is. What FFmpeg reads otherwise than the standard is refused.
 */
export class AacBlocks {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Behind the last place that has four bytes. */
  readonly #wholeEnd: number;
  readonly #books: readonly Codebook[] = codebooks();
  readonly #bands: Bands;
  /** In bits, of the file. */
  #position = 0;
  #end = 0;
  /** Of each band of each group: no frame has more. */
  readonly #bookOf = new Uint8Array(128);

  constructor(bytes: Uint8Array, rateIndex: number) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#wholeEnd = bytes.length - 3;
    this.#bands = bandsOf(rateIndex);
  }

  /** Throws unless the packet is one block. */
  check({ start, end }: { readonly start: number; readonly end: number }): void {
    this.#position = start * 8;
    this.#end = end * 8;
    let hasChannels = false;
    for (let kind = this.#read(3); kind !== blockEnd; kind = this.#read(3)) {
      const tag = this.#read(4);
      if (kind === singleChannel || kind === lowFrequencies) this.#skipStream(undefined);
      else if (kind === channelPair) this.#skipPair();
      else if (kind === dataStream) this.#skipData();
      else if (kind === programConfiguration) this.#skipConfiguration(start * 8);
      else if (kind === fill) this.#skipFill(tag, hasChannels);
      else throw notOneBlock();
      hasChannels ||= kind <= lowFrequencies;
      if (this.#position + 3 > this.#end) throw notOneBlock();
    }
    this.#hold();
    for (let at = Math.ceil(this.#position / 8); at < end; at++)
      if (this.#bytes[at] !== 0) throw notOneBlock();
  }

  /** The bits at the position, from the highest on: 25 at least. Those behind the file are zeros. */
  #next(position: number): number {
    const at = position >>> 3;
    const four = at < this.#wholeEnd ? this.#view.getInt32(at) : this.#lastBytes(at);
    return four << (position & 7);
  }

  #lastBytes(at: number): number {
    let four = 0;
    for (let byte = at; byte < at + 4; byte++) four = (four << 8) | (this.#bytes[byte] ?? 0);
    return four;
  }

  #read(bits: number): number {
    const value = this.#next(this.#position) >>> (32 - bits);
    this.#position += bits;
    return value;
  }

  #skipPair(): void {
    const common = this.#read(1) === 1 ? this.#readWindow() : undefined;
    if (common !== undefined) {
      const stereo = this.#read(2);
      if (stereo === 3) throw notOneBlock();
      if (stereo === 1) this.#position += common.bands * common.groups.length;
    }
    this.#skipStream(common);
    this.#skipStream(common);
  }

  #readWindow(): Window {
    this.#read(1);
    const isShort = this.#read(2) === eightShort;
    this.#read(1);
    const bands = this.#read(isShort ? 4 : 6);
    if (bands > this.#bands[isShort ? "short" : "long"].length) throw notOneBlock();
    // Prediction is of other kinds of AAC.
    if (!isShort) {
      if (this.#read(1) === 1) throw notOneBlock();
      return { isShort, bands, groups: [1] };
    }
    const groups = [1];
    for (let window = 1, same = this.#read(7); window < shortWindows; window++)
      if (((same >> (shortWindows - 1 - window)) & 1) === 1) groups.push((groups.pop() ?? 0) + 1);
      else groups.push(1);
    return { isShort, bands, groups };
  }

  /** `individual_channel_stream`. */
  #skipStream(common: Window | undefined): void {
    this.#position += 8;
    const window = common ?? this.#readWindow();
    this.#readSections(window);
    this.#skipScaleFactors(window);
    if (this.#read(1) === 1) this.#skipPulses(window);
    if (this.#read(1) === 1) this.#skipTns(window);
    // Gain control is of another kind of AAC.
    if (this.#read(1) === 1) throw notOneBlock();
    this.#skipSpectrum(window);
    this.#hold();
  }

  #readSections({ isShort, bands, groups }: Window): void {
    const bits = isShort ? 3 : 5;
    const more = 2 ** bits - 1;
    for (let group = 0; group < groups.length; group++)
      for (let band = 0; band < bands; ) {
        const book = this.#read(4);
        if (book === reservedBook) throw notOneBlock();
        let end = band;
        let count = more;
        while (count === more) {
          count = this.#read(bits);
          end += count;
          if (end > bands) throw notOneBlock();
          this.#hold();
        }
        this.#bookOf.fill(book, group * bands + band, group * bands + end);
        band = end;
      }
  }

  #skipScaleFactors({ bands, groups }: Window): void {
    const factors = this.#books[0];
    if (factors === undefined) return;
    let isFirstNoise = true;
    for (let at = 0; at < bands * groups.length; at++) {
      const book = this.#bookOf[at];
      if (book === 0) continue;
      if (book === noiseBook && isFirstNoise) {
        isFirstNoise = false;
        this.#position += 9;
      } else this.#skipCodewords(factors, 1);
    }
    this.#hold();
  }

  #skipPulses({ isShort }: Window): void {
    const count = this.#read(2) + 1;
    if (isShort || this.#read(6) >= this.#bands.long.length) throw notOneBlock();
    this.#position += count * 9;
  }

  #skipTns({ isShort }: Window): void {
    for (let window = isShort ? shortWindows : 1; window > 0; window--) {
      const filters = this.#read(isShort ? 1 : 2);
      const resolution = filters === 0 ? 0 : this.#read(1);
      for (let filter = 0; filter < filters; filter++) {
        this.#read(isShort ? 4 : 6);
        const order = this.#read(isShort ? 3 : 5);
        if (order > maxTnsOrder) throw notOneBlock();
        if (order === 0) continue;
        const compression = this.#read(2) & 1;
        this.#position += order * (resolution + 3 - compression);
      }
    }
  }

  #skipSpectrum({ isShort, bands, groups }: Window): void {
    const widths = this.#bands[isShort ? "short" : "long"];
    let at = 0;
    for (const windows of groups)
      for (let band = 0; band < bands; band++) {
        const number = this.#bookOf[at++] ?? 0;
        if (number === 0 || number > escapeBook) continue;
        const book = this.#books[number];
        if (book === undefined) continue;
        this.#skipCodewords(book, ((widths[band] ?? 0) * windows) / book.width);
        this.#hold();
      }
  }

  /** The hot loop: what it has read and not used is kept between codewords. */
  #skipCodewords(book: Codebook, count: number): void {
    const { short, long, longStart, longShift } = book;
    let position = this.#position;
    let bits = this.#next(position);
    let unused = leastUnused;
    for (let left = count; left > 0; left--) {
      let entry = short[bits >>> shortShift] ?? 0;
      if (entry === 0) entry = long[(bits >>> longShift) - longStart] ?? 0;
      const used = entry & 31;
      position += used;
      unused -= used;
      if (entry > 31) {
        position = this.#skipEscapes(position, entry >> 5);
        unused = 0;
      }
      if (unused < windowBits) {
        bits = this.#next(position);
        unused = leastUnused;
      } else bits <<= used;
    }
    this.#position = position;
  }

  #skipEscapes(start: number, escapes: number): number {
    let position = start;
    for (let left = escapes; left > 0; left--) {
      // Ones, a zero, and four bits and one for each of the ones.
      const ones = Math.clz32(~this.#next(position));
      if (ones > maxEscapePrefix) throw notOneBlock();
      position += 2 * ones + 5;
    }
    return position;
  }

  #skipData(): void {
    const isAligned = this.#read(1) === 1;
    let count = this.#read(8);
    if (count === 255) count += this.#read(8);
    if (isAligned) this.#position = Math.ceil(this.#position / 8) * 8;
    this.#position += count * 8;
    this.#hold();
  }

  /** `program_config_element`, behind its tag. */
  #skipConfiguration(blockStart: number): void {
    this.#position += 6;
    const channels = this.#read(4) + this.#read(4) + this.#read(4);
    const low = this.#read(2);
    const data = this.#read(3);
    const coupled = this.#read(4);
    for (const bits of [4, 4, 3]) if (this.#read(1) === 1) this.#position += bits;
    this.#position += 5 * (channels + coupled) + 4 * (low + data);
    this.#position += (blockStart - this.#position) & 7;
    this.#position += 8 * this.#read(8);
    this.#hold();
  }

  /** What is not counted in it is passed over; FFmpeg reads dynamic range without its count. */
  #skipFill(tag: number, hasChannels: boolean): void {
    const bytes = tag === 15 ? 14 + this.#read(8) : tag;
    const end = this.#position + bytes * 8;
    this.#hold(end);
    while (this.#position < end) {
      const kind = this.#read(4);
      // FFmpeg does not pass over it in front of all channels.
      const isReplication = kind === bandReplication || kind === checkedBandReplication;
      if (isReplication && !hasChannels) throw notOneBlock();
      if (kind === dynamicRange) this.#skipDynamicRange();
      else this.#position = end;
    }
    if (this.#position !== end) throw notOneBlock();
  }

  #skipDynamicRange(): void {
    if (this.#read(1) === 1) this.#position += 8;
    if (this.#read(1) === 1)
      for (let exclusions = 1; (this.#read(8) & 1) === 1; exclusions++)
        if (exclusions === maxExclusions) throw notOneBlock();
    let bands = 1;
    if (this.#read(1) === 1) {
      bands += this.#read(4);
      this.#position += 4 + 8 * bands;
    }
    if (this.#read(1) === 1) this.#position += 8;
    this.#position += 8 * bands;
  }

  /** What goes on behind the packet's end is no block. */
  #hold(position = this.#position): void {
    if (position > this.#end) throw notOneBlock();
  }
}

function notOneBlock(): UnreadableMedia {
  return new UnreadableMedia(
    "is an MP4 with a packet that is not one whole frame of AAC-LC, which is not supported",
  );
}
