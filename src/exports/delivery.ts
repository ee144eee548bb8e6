import { createHash } from "node:crypto";
import type { Format, Stream } from "./destination.ts";

/** Rows that are delivered at once. The same rows have the same name, however often they are sent. */
export interface Part {
  readonly stream: Stream;
  readonly format: Format;
  readonly hourMs: number;
  /** From 1. */
  readonly number: number;
  /** The hour was delivered before, and some of its rows are gone by now: nothing is replaced. */
  readonly isLate: boolean;
  /** This export delivered the same rows, or fewer of them, under the name before. */
  readonly replaces: boolean;
  readonly rows: number;
  /** Compressed where `Carrier.packs` says so. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What one kind of destination takes, and how it gets there. */
export interface Carrier {
  /** Rows of a part, and their bytes before they are compressed. */
  readonly mostRows: number;
  readonly mostBytes: number;
  /** JSON lines are compressed. */
  readonly packs: boolean;
  /**
   * Resolves when the part is there for good; throws a `DeliveryFailure`. What has other content is
   * not replaced, except by a part that says so: then the part gets another name, which is returned.
   */
  deliver(part: Part, signal: AbortSignal): Promise<string | undefined>;
  /** Takes the destination for this export, where it can be one that is not there. */
  claim?(signal: AbortSignal): Promise<void>;
  /** Leaves it to others. */
  release?(signal: AbortSignal): Promise<void>;
  /** Shows that the destination works, and leaves nothing that a reader would take for rows. */
  test(signal: AbortSignal): Promise<void>;
}

const two = (count: number) => String(count).padStart(2, "0");

export const sha256 = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");

/** Where the name of a part is taken: named after its content, so a repetition replaces only itself. */
export const otherPath = (part: Part): string =>
  partPath(part, `-${sha256(part.body).slice(0, 12)}`);

/** `receipts/2026-11-19/05/receipts-2026-11-19T05-0001.jsonl.gz`. */
export function partPath(part: Omit<Part, "body" | "rows" | "replaces">, suffix = ""): string {
  const { stream, format, hourMs, number, isLate } = part;
  const date = new Date(hourMs).toISOString().slice(0, 10);
  const hour = two(new Date(hourMs).getUTCHours());
  const late = isLate ? "-late" : "";
  const name = `${stream}-${date}T${hour}-${String(number).padStart(4, "0")}${late}${suffix}`;
  return `${stream}/${date}/${hour}/${name}.${format === "jsonl" ? "jsonl.gz" : "parquet"}`;
}
