import { Problem } from "../../base/problem.ts";
import { Refused } from "./refusal.ts";

/** A form is one token and a few short fields: two times the longest token that is read. */
const mostBytes = 16 * 1024;
const mostFields = 20;

/**
 * The fields of a form. Anyone can send one, so it is refused as soon as it is too large: by its
 * announced length before anything is read, and otherwise at the first byte over the limit.
 */
export async function readForm(request: Request): Promise<Readonly<Record<string, string>>> {
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) throw tooLarge();
  const text = await readText(request.body);
  // Counted before it is parsed: parsing takes about two microseconds per field.
  if (text.split("&", mostFields + 1).length > mostFields)
    throw new Problem({
      code: "invalid",
      message: `The form must not have more than ${mostFields} fields. Send only the documented ones.`,
    });
  return Object.fromEntries(new URLSearchParams(text));
}

async function readText(body: Request["body"]): Promise<string> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  // Leaving the loop cancels the rest.
  for await (const piece of body ?? []) {
    sizeBytes += piece.length;
    if (sizeBytes > mostBytes) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

const tooLarge = () =>
  new Refused({
    status: 413,
    code: "too_large",
    message: `The form must not exceed ${mostBytes / 1024} KiB. Send only the documented fields.`,
    headers: { connection: "close" },
  });
