export interface CurlCall {
  readonly url: string;
  /** Default: POST with a body, GET without. */
  readonly method?: string;
  /** What follows "Bearer": a key, or a variable of the shell, which expands it. */
  readonly bearer: string;
  /** JSON text, or `stdin` for what is piped into curl. */
  readonly body?: string | { readonly from: "stdin" } | undefined;
  /** Fields of multipart/form-data, instead of a body; `@FILE` sends a file. */
  readonly form?: readonly (readonly [name: string, value: string])[];
  /** Shows the reply as it comes. */
  readonly isStream?: boolean;
  /** The file that the reply goes to. Default: stdout. */
  readonly output?: string | undefined;
}

/** A call as a command for a POSIX shell. `separator` stands between its options. */
export function curlCommand(call: CurlCall, { separator = " " } = {}): string {
  const { url, bearer, body, form = [], isStream = false, output } = call;
  const usualMethod = body === undefined && form.length === 0 ? "GET" : "POST";
  const method = call.method ?? usualMethod;
  return [
    `curl ${shellWord(url)}`,
    ...(method === usualMethod ? [] : [`-X ${method}`]),
    ...(isStream ? ["-N"] : []),
    `-H "Authorization: Bearer ${bearer}"`,
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"']),
    ...form.map(([name, value]) => `-F ${shellWord(`${name}=${value}`)}`),
    ...(output === undefined ? [] : [`-o ${shellWord(output)}`]),
    ...(body === undefined ? [] : [bodyOption(body)]),
  ].join(separator);
}

function bodyOption(body: string | { readonly from: "stdin" }): string {
  return typeof body === "string" ? `-d ${shellWord(body)}` : "--data-binary @-";
}

/** A word that a shell takes as it is; quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
