import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { nextTurn } from "../base/clock.ts";
import type { Format } from "./destination.ts";
import type { Span } from "./store.ts";

const gzipAsync = promisify(gzip);

/** Turns rows into the bytes of a file, piece by piece. */
export interface RowEncoder<Row> {
  begin(): Uint8Array;
  add(rows: readonly Row[]): Uint8Array;
  end(): Uint8Array;
}

export interface Limits {
  readonly mostRows: number;
  readonly mostBytes: number;
}

export interface Collected {
  readonly rows: number;
  readonly lastId: string;
  /** A limit ended it: there may be more. */
  readonly isFull: boolean;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Reads rows of one stream, oldest first, and encodes them up to the limits. */
export type ReadPart = (
  span: Span,
  options: Limits & { readonly format: Format; readonly packs: boolean },
) => Promise<Collected | undefined>;

/** Encoded in one turn of the event loop, beside calls. */
const rowsAtOnce = 250;

/**
 * The first rows, up to the limits; undefined when there is none. The same rows make the same part,
 * so a part that is sent again has the same name and content.
 */
export async function collectPart<Row extends { readonly id: string }>(
  rows: AsyncIterable<Row>,
  encoder: RowEncoder<Row>,
  { mostRows, mostBytes, packs }: Limits & { readonly packs: boolean },
): Promise<Collected | undefined> {
  const pieces: Uint8Array[] = [encoder.begin()];
  let [count, bytes, lastId, isFull] = [0, 0, "", false];
  let batch: Row[] = [];
  const flush = async () => {
    const piece = encoder.add(batch);
    pieces.push(piece);
    bytes += piece.length;
    batch = [];
    await nextTurn();
  };
  for await (const row of rows) {
    batch.push(row);
    count++;
    lastId = row.id;
    if (batch.length >= rowsAtOnce) await flush();
    isFull = count >= mostRows || bytes >= mostBytes;
    if (isFull) break;
  }
  if (count === 0) return undefined;
  if (batch.length > 0) await flush();
  pieces.push(encoder.end());
  const whole = Buffer.concat(pieces);
  const body = packs ? await gzipAsync(whole) : whole;
  return { rows: count, lastId, isFull, body: new Uint8Array(body) };
}

/** One object per line. */
export function lineEncoder<Row>(toObject: (row: Row) => object): RowEncoder<Row> {
  const text = new TextEncoder();
  const none = new Uint8Array();
  return {
    begin: () => none,
    add: (rows) => text.encode(rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join("")),
    end: () => none,
  };
}
