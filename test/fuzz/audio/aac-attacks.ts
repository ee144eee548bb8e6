/** M4A files whose packets hold more sound than one frame, or look as if they did. */
import { AacBlocks } from "../../../src/media/audio/aac-block.ts";
import {
  bitsOf,
  blockEnd,
  dataElement,
  edits,
  type Field,
  fillElement,
  highEfficiency,
  type M4a,
  m4aOf,
  packetsOf,
  silence,
  silentBlock,
} from "../../fixtures/media/aac-bytes.ts";
import { join, repeated } from "../../fixtures/media/audio-bytes.ts";
import type { Dice } from "../cases/dice.ts";
import type { Sample } from "./mutants.ts";

const packetsPerFile = 40;
const blockCounts = [2, 3, 8, 24, 100, 200];

/** Elements that hold blocks, or that some decoders leave earlier than others. */
function hiding(blocks: Uint8Array): Readonly<Record<string, Uint8Array>> {
  const content = [...blocks].map((byte) => [byte, 8] as const);
  const size = Math.min(269, blocks.length + 1);
  const fill = (kind: number) =>
    fillElement(size, [kind, 4], [0, 4], ...content.slice(0, size - 1));
  const wrapped = (...elements: readonly Field[]) => bitsOf(...elements, blockEnd);
  return {
    "one element of data": wrapped(...silence, ...dataElement(blocks.subarray(0, 510))),
    "data in front": wrapped(...dataElement(blocks.subarray(0, 510)), ...silence),
    ...Object.fromEntries(
      [0, 1, 2, 11, 13, 14].flatMap((kind) => [
        [`fill of kind ${kind}`, wrapped(...silence, ...fill(kind))],
        [`fill of kind ${kind} in front`, wrapped(...fill(kind), ...silence)],
        [
          `fill of kind ${kind} that is too short`,
          join(wrapped(...silence, ...fillElement(1, [kind, 4], [1, 4]), ...silence), blocks),
        ],
        [
          `fill of kind ${kind} with all its parts`,
          join(wrapped(...silence, ...fillElement(2, [kind, 4], [15, 4], [255, 8])), blocks),
        ],
      ]),
    ),
    "a gap of zeros": join(silentBlock, new Uint8Array(9), blocks),
    "an ADTS header": join(Uint8Array.of(0xff, 0xf1, 0x6c, 0x40, 1, 0x7f, 0xfc), blocks),
    "an end in front": join(bitsOf(blockEnd), blocks),
    "coupled channels": wrapped([2, 3], [0, 60], ...silence, ...content),
    unfinished: join(blocks.subarray(0, 3), blocks),
  };
}

/** All ways to pack these blocks, of an encoder or of silence. */
function attacksOf(
  name: string,
  { packets, configuration }: ReturnType<typeof packetsOf>,
): Sample[] {
  const all: Sample[] = [];
  const add = (how: string, file: Partial<M4a>) =>
    all.push({
      name: `${how} of ${name}.m4a`,
      bytes: m4aOf({ packets: packets.slice(0, packetsPerFile), configuration, ...file }),
    });
  const groups = (count: number) =>
    Array.from({ length: packetsPerFile }, (_, at) =>
      Array.from(
        { length: count },
        (_, turn) => packets[(at * count + turn) % packets.length] ?? silentBlock,
      ),
    );
  for (const count of blockCounts) {
    const joined = groups(count).map((group) => join(...group));
    add(`${count} blocks`, { packets: joined });
    add(`${count} blocks in fragments`, { packets: joined, isFragmented: true });
    const filled = bitsOf(...fillElement(3, [0, 4], [0, 20]), blockEnd);
    const apart = groups(count).map((group) => join(...group.flatMap((one) => [one, filled])));
    add(`${count} blocks with fill between`, { packets: apart });
    for (const [how, packet] of Object.entries(hiding(repeated(silentBlock, count))))
      add(`${how} with ${count} blocks`, {
        packets: Array<Uint8Array>(packetsPerFile).fill(packet),
      });
  }
  for (const perChunk of [1, 8, packetsPerFile, 64]) add(`chunks of ${perChunk}`, { perChunk });
  for (const ticks of [1, 2, 960, 2048]) add(`${ticks} ticks`, { ticks });
  for (const times of [1, 2, 10])
    add(`${times} edits`, { extra: edits(times, packetsPerFile * 1024) });
  for (const type of [1, 3, 4, 5, 29, 42])
    add(`type ${type}`, { configuration: highEfficiency(8, type) });
  add("fragments", { isFragmented: true });
  return all;
}

export function aacAttacks(samples: readonly Sample[]): Sample[] {
  const silent = { packets: [silentBlock], configuration: bitsOf([2, 5], [11, 4], [1, 4], [0, 3]) };
  const real = samples.map(({ name, bytes }) => attacksOf(name, packetsOf(bytes)));
  return [...attacksOf("silence", silent), ...real.flat()];
}

const blocksPerFile = 8;
/** So often that one block too many in one of the packets plays for too long. */
const repeats = 20;
const mostAttempts = 2_000;

/** A file of packets that were changed at random and are still taken for one block each. */
export function changedPackets(dice: Dice, sample: Sample): Sample {
  const { packets, configuration } = packetsOf(sample.bytes);
  const rateIndex = (((configuration[0] ?? 0) & 7) << 1) | ((configuration[1] ?? 0) >> 7);
  const kept: Uint8Array[] = [];
  for (let attempt = 0; attempt < mostAttempts && kept.length < blocksPerFile; attempt++) {
    const packet = changed(dice, dice.pick(packets), dice.pick(packets));
    try {
      new AacBlocks(packet, rateIndex).check({ start: 0, end: packet.length });
      kept.push(packet);
    } catch {
      // It is no block; the next one may be.
    }
  }
  const played = Array.from({ length: repeats }, () => kept).flat();
  return {
    name: `changed packets of ${sample.name}`,
    bytes: m4aOf({ packets: played, configuration }),
  };
}

/** Bits are changed, and other blocks follow or stand inside. */
function changed(dice: Dice, packet: Uint8Array, other: Uint8Array): Uint8Array {
  const copy = packet.slice();
  for (let flips = dice.magnitude(1, 12); flips > 0; flips--) {
    const bit = dice.below(dice.percent(60) ? Math.min(96, copy.length * 8) : copy.length * 8);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  }
  if (dice.percent(40)) return copy;
  if (dice.percent(50)) return join(copy, other, new Uint8Array(dice.below(3)));
  const at = dice.below(copy.length);
  return join(copy.subarray(0, at), other, repeated(silentBlock, dice.below(8)));
}
