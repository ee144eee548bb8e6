import {
  damaged,
  type Element,
  ids,
  type Range,
  readElement,
  readVariableInteger,
  sizedEnd,
  topLevelIds,
} from "./ebml.ts";
import { FrameSpan, longest, UnreadableMedia, viewOf } from "./frames.ts";

/**
 * How long a WebM lasts, from the times of its blocks. What the file says of its own duration is not
 * believed: it covers the sound as well, and anybody can write a number there.
 *
 * One linear pass, which follows no pointer (seek heads and cues) and unpacks no block.
 * A cut file shows when an element reaches past the end of the file. Files of unknown size, as browsers
 * record them, can be cut between two blocks without a trace.
 */
const maxElements = 32_768;
const maxTracks = 8;
const videoTrackType = 1;
const nanosecondsPerSecond = 1e9;
const usualTimestampScaleNs = 1_000_000;

interface Track {
  readonly number: number;
  readonly isVideo: boolean;
  readonly defaultDurationNs: number;
}

interface Block {
  readonly track: number;
  readonly time: number;
  readonly frames: number;
  /** In units of the segment, as all times but the default duration; 0 when it is not stated. */
  readonly duration: number;
}

export function webmDurationS(bytes: Uint8Array): number {
  return new Webm(bytes).durationS();
}

class Webm {
  readonly #view: DataView;
  readonly #tracks: Track[] = [];
  readonly #blocks: Block[] = [];
  #elementsLeft = maxElements;
  #timestampScaleNs: number | undefined;

  constructor(bytes: Uint8Array) {
    this.#view = viewOf(bytes);
  }

  durationS(): number {
    this.#readSegment(this.#findSegment());
    const scaleNs = this.#timestampScaleNs ?? usualTimestampScaleNs;
    const videoTracks = this.#tracks.filter(({ isVideo }) => isVideo);
    const spans = new Map(videoTracks.map(({ number }) => [number, new FrameSpan()]));
    const defaults = new Map(
      videoTracks.map((track) => [track.number, track.defaultDurationNs / scaleNs]),
    );
    for (const { track, time, frames, duration } of this.#blocks) {
      const defaultDuration = frames * (defaults.get(track) ?? 0);
      const lasts = duration > 0 ? duration : defaultDuration;
      spans.get(track)?.add({ time, frames, duration: lasts });
    }
    const unitsPerSecond = nanosecondsPerSecond / scaleNs;
    return longest([...spans.values()].map((span) => span.seconds(unitsPerSecond)));
  }

  #findSegment(): Element {
    const end = this.#view.byteLength;
    let { end: position } = readElement(this.#view, { position: 0, end });
    while (position < end) {
      const element = this.#elementAt({ position, end });
      if (element.id === ids.segment) return element;
      if (element.id !== ids.void) throw damaged("its segment does not follow its header");
      position = element.end;
    }
    throw new UnreadableMedia("is truncated: it has no segment");
  }

  #readSegment(segment: Element): void {
    if (segment.end !== this.#view.byteLength) throw damaged("it has data after its segment");
    for (let position = segment.contentStart; position < segment.end; ) {
      const element = this.#elementAt({ position, end: segment.end });
      position = element.id === ids.cluster ? this.#readCluster(element) : sizedEnd(element);
      if (element.id === ids.info) this.#readInfo(element);
      else if (element.id === ids.tracks) this.#readTracks(element);
      // Readers search the rest of the file, byte by byte, for something they know.
      else if (element.idBytes !== 1 && !topLevelIds.has(element.id))
        throw damaged("its segment contains an unknown element");
    }
  }

  #readInfo(info: Element): void {
    const scale = this.#only(this.#childrenOf(info), ids.timestampScale);
    if (scale === undefined) return;
    const scaleNs = this.#unsigned(scale);
    if (scaleNs !== (this.#timestampScaleNs ?? scaleNs))
      throw damaged("it has more than one time scale");
    this.#timestampScaleNs = scaleNs;
  }

  #readTracks(tracks: Element): void {
    for (const entry of this.#childrenOf(tracks).filter(({ id }) => id === ids.trackEntry)) {
      if (this.#tracks.length === maxTracks) throw damaged(`it has more than ${maxTracks} tracks`);
      const fields = this.#childrenOf(entry);
      const valueOf = (id: number): number => {
        const field = this.#only(fields, id);
        return field === undefined ? 0 : this.#unsigned(field);
      };
      this.#tracks.push({
        number: valueOf(ids.trackNumber),
        isVideo: valueOf(ids.trackType) === videoTrackType,
        defaultDurationNs: valueOf(ids.defaultDuration),
      });
    }
  }

  /** Returns its end, which one of unknown size shows only by what follows. */
  #readCluster(cluster: Element): number {
    let time: number | undefined;
    let position = cluster.contentStart;
    while (position < cluster.end) {
      const element = this.#elementAt({ position, end: cluster.end });
      if (cluster.hasUnknownSize && topLevelIds.has(element.id)) return position;
      position = sizedEnd(element);
      if (element.id === ids.timestamp) {
        if (time !== undefined) throw damaged("one of its clusters has two timestamps");
        time = this.#unsigned(element);
      } else if (element.id === ids.simpleBlock) {
        this.#readBlock(element, { clusterTime: time, duration: 0 });
      } else if (element.id === ids.blockGroup) {
        this.#readBlockGroup(element, time);
      }
    }
    return position;
  }

  #readBlockGroup(group: Element, clusterTime: number | undefined): void {
    const children = this.#childrenOf(group);
    const block = this.#only(children, ids.block);
    const length = this.#only(children, ids.blockDuration);
    const duration = length === undefined ? 0 : this.#unsigned(length);
    if (block !== undefined) this.#readBlock(block, { clusterTime, duration });
  }

  /** A block is a track number, two bytes of time, a byte of flags, and the frame or a lace of them. */
  #readBlock(
    block: Element,
    around: { readonly clusterTime: number | undefined; readonly duration: number },
  ): void {
    const track = readVariableInteger(this.#view, { ...block, position: block.contentStart });
    const timeAt = block.contentStart + (track?.sizeBytes ?? 0);
    if (track === undefined || timeAt + 2 >= block.end)
      throw damaged("one of its blocks is too short");
    if (around.clusterTime === undefined)
      throw damaged("one of its blocks comes before its cluster's timestamp");
    const isLaced = (this.#view.getUint8(timeAt + 2) & 0b0000_0110) !== 0;
    const hasCount = isLaced && timeAt + 3 < block.end;
    this.#blocks.push({
      track: track.value,
      time: around.clusterTime + this.#view.getInt16(timeAt),
      frames: hasCount ? this.#view.getUint8(timeAt + 3) + 1 : 1,
      duration: around.duration,
    });
  }

  #childrenOf(parent: Element): readonly Element[] {
    const children: Element[] = [];
    for (let position = parent.contentStart; position < parent.end; ) {
      const element = this.#elementAt({ position, end: parent.end });
      position = sizedEnd(element);
      children.push(element);
    }
    return children;
  }

  #only(elements: readonly Element[], id: number): Element | undefined {
    const [element, second] = elements.filter((candidate) => candidate.id === id);
    if (second !== undefined) throw damaged("it has a duplicate element");
    return element;
  }

  #elementAt(range: Range): Element {
    this.#elementsLeft -= 1;
    if (this.#elementsLeft < 0) throw damaged(`it has more than ${maxElements} elements`);
    return readElement(this.#view, range);
  }

  #unsigned({ contentStart, end }: Element): number {
    if (end - contentStart > 8) throw damaged("one of its numbers is too long");
    let value = 0;
    for (let at = contentStart; at < end; at += 1) value = value * 256 + this.#view.getUint8(at);
    return value;
  }
}
