/** Chooses the frames that stand for a clip, and the least that must be decoded to see them. */
export interface PacketTime {
  readonly startS: number;
  readonly durationS: number;
  readonly isKey: boolean;
}

/** A stretch of packets that is decoded from its key frame on. */
export interface Run {
  readonly first: number;
  /** The last packet that belongs to the key frame; decoding may stop before it. */
  readonly last: number;
  /** Which of the frames that come out, in the order shown, rising from 0. */
  readonly wanted: readonly number[];
}

export interface PlanOptions {
  /** In the order of decoding. */
  readonly packets: readonly PacketTime[];
  readonly count: number;
  readonly maxDecoded: number;
}

/**
 * One frame from the middle of each of `count` equal parts of the clip's time. Where the way from
 * the key frames to them is too long, key frames inside those parts; `undefined` when a part has none.
 */
export function planFrames({
  packets,
  count,
  maxDecoded,
}: PlanOptions): readonly Run[] | undefined {
  const parts = partsOf(packets, count);
  const exact = toRuns(packets, new Set(parts.map(({ middle }) => middle)));
  if (decodedBy(exact) <= maxDecoded) return exact;
  // A part may hold no frame at all, when one is shown for long.
  const filled = parts.filter(({ inside }) => inside.length > 0);
  const keys = filled.flatMap(({ inside }) => inside.find((at) => packets[at]?.isKey) ?? []);
  return keys.length < filled.length ? undefined : toRuns(packets, new Set(keys));
}

interface Part {
  /** The packet shown at the part's middle. */
  readonly middle: number;
  readonly inside: readonly number[];
}

function partsOf(packets: readonly PacketTime[], count: number): readonly Part[] {
  const shown = inShownOrder(packets, 0, packets.length - 1);
  const startAt = (at: number): number => packets[at]?.startS ?? 0;
  const startS = startAt(shown[0] ?? 0);
  const endS = packets.reduce(
    (end, { startS, durationS }) => Math.max(end, startS + durationS),
    startS,
  );
  const partS = (endS - startS) / count;
  return Array.from({ length: count }, (_, part) => {
    const fromS = startS + part * partS;
    const middle = shown.findLast((at) => startAt(at) <= fromS + partS / 2) ?? 0;
    const inside = shown.filter((at) => startAt(at) >= fromS && startAt(at) < fromS + partS);
    return { middle, inside };
  });
}

function toRuns(packets: readonly PacketTime[], frames: ReadonlySet<number>): readonly Run[] {
  const starts = packets.flatMap(({ isKey }, at) => (isKey || at === 0 ? [at] : []));
  return starts.flatMap((first, i) => {
    const last = (starts[i + 1] ?? packets.length) - 1;
    const wanted = inShownOrder(packets, first, last).flatMap((at, rank) =>
      frames.has(at) ? [rank] : [],
    );
    return wanted.length === 0 ? [] : [{ first, last, wanted }];
  });
}

// Near enough: the orders of decoding and of showing differ by a few frames only.
function decodedBy(runs: readonly Run[]): number {
  return runs.reduce((sum, { wanted }) => sum + (wanted.at(-1) ?? 0) + 1, 0);
}

function inShownOrder(
  packets: readonly PacketTime[],
  first: number,
  last: number,
): readonly number[] {
  const order = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return order.sort((a, b) => (packets[a]?.startS ?? 0) - (packets[b]?.startS ?? 0));
}
