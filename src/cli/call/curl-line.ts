import { type CurlCall, curlCommand, shellWord } from "../../base/text/curl.ts";
import { asTyped } from "../terminal/own-command.ts";

/** A piece of a request's body: literal text, or a file's bytes in base64. */
export type BodyPiece = string | { readonly file: string };

export interface CurlOptions extends Pick<CurlCall, "url" | "isStream" | "output"> {
  readonly body: readonly BodyPiece[];
}

/** Comes before the command. */
export const curlNote =
  "# Set KEY to an API key: KEY=sk-svc-… (create one with svc key create --account NAME)";

/** Kernels limit one word of a command line to 128 KiB. */
const maxWordBytes = 100 * 1024;

/** The same calls for a POSIX shell, one line each. */
export function curlText(calls: readonly CurlOptions[]): string {
  return [asTyped(curlNote), ...calls.map(curlLine)].map((line) => `${line}\n`).join("");
}

function curlLine({ body, ...call }: CurlOptions): string {
  const [only = ""] = body;
  // Without KEY, the shell reports an error instead of sending a call that would be rejected.
  const bearer = "${KEY:?}";
  if (body.length === 1 && typeof only === "string" && Buffer.byteLength(only) <= maxWordBytes)
    return curlCommand({ ...call, bearer, body: only });
  // The shell's own printf takes words of any length; curl's command line does not.
  const piped = curlCommand({ ...call, bearer, body: { from: "stdin" } });
  return `{ ${body.map(printed).join("; ")}; } | ${piped}`;
}

function printed(piece: BodyPiece): string {
  return typeof piece === "string"
    ? `printf %s ${shellWord(piece)}`
    : `base64 < ${shellWord(piece.file)} | tr -d '\\n'`;
}
