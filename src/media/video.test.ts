import { describe, expect, test } from "bun:test";
import { fixtureBytes, seededRandom } from "../../test/fixtures/media/fixture.ts";
import { billedVideoSeconds, inspectVideo, maxVideoBytes } from "./video.ts";

const whole = [
  ["h264-1s.mp4", "mp4", 1],
  ["h264-1s-faststart.mp4", "mp4", 1],
  ["h264-3s.mp4", "mp4", 3],
  ["h264-3s-faststart.mp4", "mp4", 3],
  ["h264-2s-fragmented.mp4", "mp4", 2],
  ["h264-6s-ntsc.mp4", "mp4", 6.006],
  ["h264-2s-audio-8s.mp4", "mp4", 2],
  ["vp8-2s.webm", "webm", 2],
  ["vp9-2s.webm", "webm", 2],
  ["vp8-2s-live.webm", "webm", 2],
] as const;

describe("inspectVideo", () => {
  test.each(whole)(
    "sees that %s is %s and its video track lasts %d s",
    (name, container, durationS) => {
      const bytes = fixtureBytes(name);
      expect(inspect(bytes)).toEqual({
        ok: true,
        container,
        durationS: expect.closeTo(durationS, 3),
        sizeBytes: bytes.length,
      });
    },
  );

  test("refuses a video longer than six seconds and says how long it is", () => {
    expect(problemOf(fixtureBytes("h264-6.2s.mp4"))).toBe(
      "lasts 6.20 s, longer than the 6 s allowed",
    );
  });

  test("takes other limits from the caller", () => {
    const text = toBase64(fixtureBytes("h264-6.2s.mp4"));
    expect(inspectVideo(text, { maxDurationS: 10 }).ok).toBe(true);
    expect(inspectVideo(text, { maxBytes: 6_317 })).toEqual({
      ok: false,
      problem: "is 6318 bytes, more than the 6317 bytes allowed",
    });
  });

  test("measures the limit in decoded bytes, to the byte", () => {
    expect(problemOf(new Uint8Array(maxVideoBytes + 1))).toBe(
      "is 307201 bytes, more than the 307200 bytes allowed",
    );
    expect(problemOf(new Uint8Array(maxVideoBytes))).toBe("is neither an MP4 nor a WebM video");
  });

  test("refuses 32 MiB of text by its length, before it looks at a character", () => {
    const text = "!".repeat(32 * 1024 * 1024);
    expect(inspectVideo(text)).toMatchObject({
      problem: "is 25165824 bytes, more than the 307200 bytes allowed",
    });
  });

  test("says where the base64 is broken", () => {
    expect(inspectVideo("data:video/mp4;base64,AAAA")).toEqual({
      ok: false,
      problem: "is not valid base64: unexpected character at offset 4",
    });
  });

  test.each(["quicktime.mov", "matroska.mkv", "tiny.gif", "sine-24khz-list-chunk.wav"])(
    "refuses %s as neither MP4 nor WebM",
    (name) => {
      expect(problemOf(fixtureBytes(name))).toBe("is neither an MP4 nor a WebM video");
    },
  );

  test("refuses an MP4 that has only sound", () => {
    expect(problemOf(fixtureBytes("audio-only.mp4"))).toBe("has no video track");
  });
});

describe("inspectVideo of a cut file", () => {
  test.each([
    "h264-1s.mp4",
    "h264-1s-faststart.mp4",
    "vp8-2s.webm",
    "vp9-2s.webm",
    "h264-2s-audio-8s.mp4",
  ])("refuses %s at every length, as truncated once its header is there", (name) => {
    const whole = fixtureBytes(name);
    const stepBytes = Math.ceil(whole.length / 2_500);
    for (let length = whole.length - 1; length > 0; length -= stepBytes) {
      const inspection = inspect(whole.subarray(0, length));
      const problem = inspection.ok ? `accepted at ${length} bytes` : inspection.problem;
      expect(problem).toStartWith(length > 60 ? "is truncated" : "is ");
    }
  });

  test("refuses an MP4 whose moov is whole and whose mdat is gone altogether", () => {
    const whole = fixtureBytes("h264-3s-faststart.mp4");
    const mediaAt = Buffer.from(whole).indexOf("mdat") - 4;
    expect(problemOf(whole.subarray(0, mediaAt))).toBe(
      "is truncated: the bytes of a frame are missing",
    );
  });

  test("refuses an MP4 whose mdat was shortened to hide the cut", () => {
    const whole = fixtureBytes("h264-3s-faststart.mp4");
    const mediaAt = Buffer.from(whole).indexOf("mdat") - 4;
    const cut = whole.slice(0, whole.length - 10);
    new DataView(cut.buffer).setUint32(mediaAt, cut.length - mediaAt);
    expect(problemOf(cut)).toBe("is truncated: the bytes of a frame are missing");
  });

  test("accepts a fragmented MP4 only where a fragment ends", () => {
    const whole = fixtureBytes("h264-2s-fragmented.mp4");
    const ends = topLevelBoxes(whole).filter(({ name }) => name === "mdat" || name === "mfra");
    for (let length = whole.length - 1; length > 0; length -= 1) {
      const isEnd = ends.some(({ end }) => end === length);
      expect([length, inspect(whole.subarray(0, length)).ok]).toEqual([length, isEnd]);
    }
  });

  test("refuses a WebM of unknown size that is cut within a block", () => {
    const whole = fixtureBytes("vp8-2s-live.webm");
    const blocks: number[] = [];
    for (let length = whole.length - 1; length > whole.length - 3_000; length -= 1)
      if (inspect(whole.subarray(0, length)).ok) blocks.push(length);
    // Some 10 frames and 20 packets of sound: no more cuts than that fall between two of them.
    expect(blocks.length).toBeWithin(1, 40);
  });
});

describe("inspectVideo of hostile bytes", () => {
  test("never throws on garbage behind a valid start", () => {
    const random = seededRandom(4);
    const starts = [
      fixtureBytes("h264-1s.mp4").subarray(0, 32),
      fixtureBytes("vp8-2s.webm").subarray(0, 48),
    ];
    for (let round = 0; round < 300; round += 1) {
      const noise = Uint8Array.from({ length: random(20_000) }, () => random(256));
      const start = starts[round % 2] ?? noise;
      expect(inspect(Buffer.concat([start, noise])).ok).toBe(false);
    }
  });

  test.each(whole)("never throws on 600 mutations of %s", (name) => {
    const random = seededRandom(5);
    const whole = fixtureBytes(name);
    for (let round = 0; round < 600; round += 1) {
      const inspection = inspect(mutated(whole, random));
      expect(inspection.ok || inspection.problem.length > 0).toBe(true);
    }
  });

  test.each([
    ["stts", 8, "h264-1s-faststart.mp4"],
    ["ctts", 8, "h264-1s-faststart.mp4"],
    ["stsc", 12, "h264-1s-faststart.mp4"],
    ["stsz", 8, "h264-1s-faststart.mp4"],
    ["stsd", 4, "h264-1s-faststart.mp4"],
    ["stco", 4, "h264-1s-faststart.mp4"],
    ["trun", 4, "h264-2s-fragmented.mp4"],
  ])("refuses a %s box that at %i claims four billion of something", (name, offset, file) => {
    const bytes = fixtureBytes(file);
    const at = Buffer.from(bytes).indexOf(name) + 4 + offset;
    new DataView(bytes.buffer).setUint32(at, 0xffff_fff0);
    const inspection = inspect(bytes);
    expect(inspection.ok ? "" : inspection.problem).toStartWith("is a damaged MP4");
  });

  test("does not read the index at the end of a fragmented MP4, wherever it hides", () => {
    const index = box("mfra", Buffer.concat([fragmentWithRun(0xffff_ffff), Buffer.alloc(4)]));
    index.writeUInt32BE(index.length, index.length - 4);
    const bytes = Buffer.concat([fixtureBytes("h264-2s-fragmented.mp4"), box("mdat", index)]);
    expect(inspect(bytes)).toMatchObject({ ok: true, durationS: 2 });
  });

  test("refuses a table that counts a sample description which is not there", () => {
    const bytes = fixtureBytes("h264-1s.mp4");
    new DataView(bytes.buffer).setUint32(Buffer.from(bytes).indexOf("stsd") + 8, 2);
    expect(problemOf(bytes)).toBe("is a damaged MP4: its stsd table is longer than its box");
  });

  test("refuses tables that list different numbers of frames", () => {
    const bytes = fixtureBytes("h264-1s.mp4");
    const entryAt = Buffer.from(bytes).indexOf("stts") + 12;
    new DataView(bytes.buffer).setUint32(entryAt, 1);
    expect(problemOf(bytes)).toBe("is a damaged MP4: its tables list different numbers of frames");
  });

  test("counts the frames of a fragment behind those in the tables", () => {
    const bytes = Buffer.concat([fixtureBytes("h264-6.2s.mp4"), fragmentWithRun(12_800)]);
    expect(inspect(bytes)).toMatchObject({ problem: expect.stringContaining("more frames") });
    const frames = box("mdat", Buffer.alloc(100));
    const longer = Buffer.concat([fixtureBytes("h264-3s.mp4"), fragmentWithRun(100), frames]);
    expect(inspect(longer)).toMatchObject({ problem: expect.stringMatching(/^lasts 6\.92 s/) });
  });

  test("refuses a second table of one kind", () => {
    const bytes = fixtureBytes("h264-1s.mp4");
    bytes.set(Buffer.from("stts"), Buffer.from(bytes).indexOf("stss"));
    expect(problemOf(bytes)).toBe("is a damaged MP4: it has a duplicate stts box");
  });

  test("measures the stored frames, not the few that an edit list leaves", () => {
    const bytes = fixtureBytes("h264-6.2s.mp4");
    const editAt = Buffer.from(bytes).indexOf("elst") + 4;
    const view = new DataView(bytes.buffer);
    view.setUint32(editAt + 8, 200); // 0.2 s of the movie
    view.setUint32(editAt + 12, 6 * 12_800); // from its sixth second
    expect(problemOf(bytes)).toBe("lasts 6.20 s, longer than the 6 s allowed");
  });

  test("does not follow seek heads that point at each other", () => {
    const whole = fixtureBytes("vp8-2s-live.webm");
    const segmentAt = Buffer.from(whole).indexOf(Buffer.from("18538067", "hex")) + 12;
    const seekHeads = nestedSeekHeads(6_000);
    const bytes = Buffer.concat([
      whole.subarray(0, segmentAt),
      seekHeads,
      whole.subarray(segmentAt),
    ]);
    expect(inspect(bytes)).toMatchObject({ ok: true, durationS: 2 });
  });

  test("counts the frames of a laced block without unpacking it", () => {
    const whole = fixtureBytes("vp8-2s-live.webm");
    // A fixed-size lace of 256 frames in 7 bytes, in a cluster of its own.
    const block = Buffer.from("a3858100000cff", "hex");
    const cluster = Buffer.concat([
      Buffer.from("1f43b675ffe78100", "hex"),
      ...Array.from({ length: 30_000 }, () => block),
    ]);
    const inspection = inspect(Buffer.concat([whole, cluster]));
    expect(inspection).toEqual({ ok: false, problem: "has more than 4096 frames" });
  });
});

describe("billedVideoSeconds", () => {
  test.each([
    [0.04, 1],
    [1, 1],
    [1.01, 2],
    [2.000_000_000_4, 2],
    [5.2, 6],
    [6, 6],
    [6.03, 6],
    [6.05, 6],
    [6.2, 7],
  ])("bills %d s as %i", (durationS, seconds) => {
    expect(billedVideoSeconds(durationS)).toBe(seconds);
  });
});

function inspect(bytes: Uint8Array) {
  return inspectVideo(toBase64(bytes));
}

function problemOf(bytes: Uint8Array): string {
  const inspection = inspect(bytes);
  return inspection.ok ? "" : inspection.problem;
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Flips bits, writes extreme numbers, and sometimes cuts. */
function mutated(whole: Uint8Array, random: (below: number) => number): Uint8Array {
  const bytes = whole.slice(0, random(4) === 0 ? 1 + random(whole.length) : whole.length);
  for (let changes = random(8); changes >= 0; changes -= 1) {
    const at = random(bytes.length);
    if (random(3) === 0) {
      bytes.fill(random(2) === 0 ? 0xff : 0, at, at + 1 + random(8));
    } else {
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    }
  }
  return bytes;
}

function topLevelBoxes(bytes: Uint8Array) {
  const boxes: { readonly name: string; readonly end: number }[] = [];
  const buffer = Buffer.from(bytes);
  for (let at = 0; at + 8 <= buffer.length; at += buffer.readUInt32BE(at)) {
    const name = buffer.toString("latin1", at + 4, at + 8);
    boxes.push({ name, end: at + buffer.readUInt32BE(at) });
  }
  return boxes;
}

function words(...values: readonly number[]): Buffer {
  return Buffer.concat(
    values.map((value) => Buffer.from(value.toString(16).padStart(8, "0"), "hex")),
  );
}

function box(name: string, content: Buffer): Buffer {
  return Buffer.concat([words(8 + content.length), Buffer.from(name), content]);
}

/** A fragment of the first track with default times and sizes, and as many samples as asked for. */
function fragmentWithRun(samples: number): Buffer {
  const track = box("tfhd", words(0x00_00_00_38, 1, 512, 1, 0));
  return box("moof", box("traf", Buffer.concat([track, box("trun", words(0, samples))])));
}

/** Seek heads one inside the other; each entry points at another of them. */
function nestedSeekHeads(count: number): Buffer {
  const seekHeadBytes = 26;
  const heads: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const head = Buffer.alloc(seekHeadBytes);
    head.write("114d9b74", 0, "hex");
    head.writeUInt32BE(0x10_00_00_00 + (count - index) * seekHeadBytes - 8, 4);
    head.write("4dbb8f53ab84114d9b7453ac84", 8, "hex");
    head.writeUInt32BE(index * seekHeadBytes, 21);
    head.write("ec", 25, "hex");
    heads.push(head);
  }
  return Buffer.concat(heads);
}
