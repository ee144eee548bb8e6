import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DeliveryFailure } from "./delivery-failure.ts";

/** In a directory that an export writes to: a volume that is not mounted lacks it. */
export const markerName = ".svc-export.json";

/** Who writes to a directory. */
export interface Owner {
  readonly storeId: string;
  readonly name: string;
}

export const markerOf = ({ storeId, name }: Owner): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`${JSON.stringify({ store: storeId, export: name })}\n`));

/** False: there is no marker. Throws a `DeliveryFailure` for the marker of another export. */
export async function isMarked(dir: string, owner: Owner): Promise<boolean> {
  const text = await readMarker(dir);
  if (text === undefined) return false;
  if (text === Buffer.from(markerOf(owner)).toString()) return true;
  throw new DeliveryFailure(
    `${dir} belongs to another export (${markerName}). Use a directory of its own, or remove this file if the other export is gone`,
    { isFinal: true },
  );
}

export const notMarked = ({ dir, name }: { readonly dir: string; readonly name: string }) =>
  new DeliveryFailure(
    `${dir} is not the directory that was exported to: it has no ${markerName}. Mount its volume; if this is the right directory, run svc exports resume ${name}`,
    { isFinal: true },
  );

/** Leaves the directory to others; what was delivered stays. */
export async function unmark(dir: string, owner: Owner): Promise<void> {
  if (await isMarked(dir, owner)) await rm(join(dir, markerName));
}

async function readMarker(dir: string): Promise<string | undefined> {
  try {
    return await readFile(join(dir, markerName), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
