import {
  bitsOf,
  blockEnd,
  type Field,
  lowComplexity,
  m4aOf,
} from "../../../fixtures/media/aac-bytes.ts";
import {
  box,
  join,
  oggOfOpenHeaders,
  oggPage,
  repeated,
  webmOf,
  webmOfEmptyLaces,
} from "../../../fixtures/media/audio-bytes.ts";
import { fixtureBytes } from "../../../fixtures/media/fixture.ts";
import { casesOf, renamed, type StallCase, transcriptionRequest } from "./stall-case.ts";

const mebibyte = 2 ** 20;
const mostBytes = 24 * mebibyte;

/** As many as fit. */
const filled = (unit: Uint8Array, sizeBytes = mostBytes) =>
  repeated(unit, Math.floor(sizeBytes / unit.length));

const webmOfVoids = () => join(webmOf(), filled(Uint8Array.from([0xec, 0x80])));

/** The pages that hold headers, and then pages of 255 packets of one byte. */
function oggOfBytes(): Uint8Array {
  const opus = fixtureBytes("speech-opus.ogg");
  const page = oggPage({
    body: new Uint8Array(255).fill(0x78),
    segments: Array<number>(255).fill(1),
    serial: Buffer.from(opus).readUInt32LE(14),
  });
  return join(opus, repeated(page, Math.floor((mostBytes - opus.length) / page.length)));
}

function wavOfChunks(): Uint8Array {
  const wav = fixtureBytes("speech.wav");
  const chunk = Uint8Array.from([...Buffer.from("JUNK"), 0, 0, 0, 0]);
  return join(wav, filled(chunk, mebibyte));
}

/** Frames of FLAC follow each other where each byte could begin one. */
const flacOfMarks = () => join(fixtureBytes("speech.flac"), filled(Uint8Array.from([0xff, 0xf8])));

/** AAC at 32 kHz in which each codeword of the 51 bands has one bit: 512 of them for a frame. */
function m4aOfShortCodewords(): Uint8Array {
  const channel: readonly Field[] = [
    [0, 15],
    [0, 4],
    [51, 6],
    [0, 1],
    [5, 4],
    [31, 5],
    [20, 5],
    ...Array.from({ length: 51 }, (): Field => [0, 1]),
    [0, 3],
    ...Array.from({ length: 512 }, (): Field => [0, 1]),
  ];
  const packet = bitsOf(...Array.from({ length: 20 }, () => channel).flat(), blockEnd);
  const packets = Array<Uint8Array>(Math.floor(mostBytes / (packet.length + 4))).fill(packet);
  return m4aOf({ packets, configuration: lowComplexity(5, 2) });
}

function mp3OfSyncBytes(): Uint8Array {
  const bytes = new Uint8Array(mostBytes).fill(0xff);
  // Two frames of MPEG 1, layer III, 32 kbit/s, 48 kHz: 96 bytes each.
  for (const at of [0, 96]) bytes.set([0xff, 0xfb, 0x14, 0xc0], at);
  return bytes;
}

function mp3OfShortFrames(): Uint8Array {
  // MPEG 2, layer III, 8 kbit/s, 24 kHz: 24 bytes each.
  const frame = new Uint8Array(24);
  frame.set([0xff, 0xf3, 0x14, 0xc0]);
  return filled(frame);
}

const wavOfMarks = () =>
  join(fixtureBytes("speech.wav").slice(0, 40), filled(Uint8Array.from([255, 0xfb, 0x47, 0x56])));

const files: Readonly<Record<string, () => Uint8Array>> = {
  "webm-of-empty-laces-1mb": () => webmOfEmptyLaces(mebibyte),
  "webm-of-empty-laces-24mb": () => webmOfEmptyLaces(mostBytes),
  "webm-of-voids-24mb": webmOfVoids,
  "ogg-of-64-open-headers": () => oggOfOpenHeaders(64),
  "ogg-of-packets-of-a-byte-24mb": oggOfBytes,
  "wav-of-empty-chunks-1mb": wavOfChunks,
  "wav-of-marks-24mb": wavOfMarks,
  "flac-of-marks-24mb": flacOfMarks,
  "m4a-of-empty-boxes-24mb": () => join(fixtureBytes("speech.m4a"), filled(box("free"))),
  "m4a-of-short-codewords-24mb": m4aOfShortCodewords,
  "mp3-of-sync-bytes-24mb": mp3OfSyncBytes,
  "mp3-of-short-frames-24mb": mp3OfShortFrames,
};
const attacks = "measure audio, before any hold (src/media/audio)";

/** Audio that is dear to measure. */
export const audioCases: readonly StallCase[] = [
  ...casesOf(
    attacks,
    renamed("audio-", files, (toBytes) => () => transcriptionRequest(toBytes())),
  ),
  ...casesOf(
    attacks,
    { "audio-ten-webms-of-voids-24mb": () => transcriptionRequest(webmOfVoids()) },
    { times: 10, atOnce: 10 },
  ),
];
