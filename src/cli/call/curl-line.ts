/** A piece of a request's body: text as it stands, or a file's bytes in base64. */
export type BodyPiece = string | { readonly file: string };

export interface CurlOptions {
  readonly url: string;
  readonly body: readonly BodyPiece[];
  /** Shows the reply as it comes. */
  readonly isStream?: boolean;
  /** Where the reply goes; stdout unless told. */
  readonly output?: string;
}

const note = "# KEY stands for an API key: KEY=sk-svc-… (svc key create --account NAME makes one)";

/** The kernels' limit for one word of a command line is 128 KiB. */
const maxWordBytes = 100 * 1024;

/** The same calls for a POSIX shell, each on a line that works as it stands. */
export function curlText(calls: readonly CurlOptions[]): string {
  return [note, ...calls.map(curlLine)].map((line) => `${line}\n`).join("");
}

function curlLine({ url, body, isStream = false, output }: CurlOptions): string {
  const [only = ""] = body;
  const isShort =
    body.length === 1 && typeof only === "string" && Buffer.byteLength(only) <= maxWordBytes;
  const words = [
    "curl",
    ...(isStream ? ["-N"] : []),
    quote(url),
    // Without a key the shell says so, instead of a call that is refused.
    '-H "Authorization: Bearer ${KEY:?}"',
    "-H 'Content-Type: application/json'",
    isShort ? `-d ${quote(only)}` : "--data-binary @-",
    ...(output === undefined ? [] : [`-o ${quote(output)}`]),
  ];
  // The shell's own printf takes words of any length; curl's command line does not.
  return isShort ? words.join(" ") : `{ ${body.map(printed).join("; ")}; } | ${words.join(" ")}`;
}

function printed(piece: BodyPiece): string {
  return typeof piece === "string"
    ? `printf %s ${quote(piece)}`
    : `base64 < ${quote(piece.file)} | tr -d '\\n'`;
}

/** A word that a shell takes as it is; quoted only where it must be. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
