import type { Receipt } from "../../../ledger/receipt.ts";

/** A file, piece by piece. */
export interface Encoder {
  begin(): Uint8Array;
  add(receipts: readonly Receipt[]): Uint8Array;
  end(): Uint8Array;
}
