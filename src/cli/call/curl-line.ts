import { type CurlCall, curlCommand, shellWord } from "../../base/text/curl.ts";

/** A piece of a request's body: text as it stands, or a file's bytes in base64. */
export type BodyPiece = string | { readonly file: string };

export interface CurlOptions extends Pick<CurlCall, "url" | "isStream" | "output"> {
  readonly body: readonly BodyPiece[];
}

const note = "# KEY stands for an API key: KEY=sk-svc-… (svc key create --account NAME makes one)";

/** The kernels' limit for one word of a command line is 128 KiB. */
const maxWordBytes = 100 * 1024;

/** The same calls for a POSIX shell, each on a line that works as it stands. */
export function curlText(calls: readonly CurlOptions[]): string {
  return [note, ...calls.map(curlLine)].map((line) => `${line}\n`).join("");
}

function curlLine({ body, ...call }: CurlOptions): string {
  const [only = ""] = body;
  // Without a key the shell reports it, instead of a call that is refused.
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
