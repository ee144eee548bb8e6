export interface CurlCall {
  readonly url: string;
  /** Default: POST with a body, GET without. */
  readonly method?: string;
  /** What follows "Bearer": a key, or a variable of the shell, which expands it. */
  readonly bearer: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The parts of a form, instead of a body. */
  readonly form?: readonly FormField[] | undefined;
  /** JSON text, or `stdin` for what is piped into curl. */
  readonly body?: string | { readonly from: "stdin" } | undefined;
  /** Shows the reply as it comes. */
  readonly isStream?: boolean;
  /** The file that the reply goes to. Default: stdout. */
  readonly output?: string | undefined;
}

/** A part of a form: a value, or the file of a path. */
export interface FormField {
  readonly name: string;
  readonly value: string;
  readonly isFile?: boolean;
}

/** A call as a command for a POSIX shell. `separator` stands between its options. */
export function curlCommand(call: CurlCall, { separator = " " } = {}): string {
  const { url, bearer, body, form = [], headers = {}, isStream = false, output } = call;
  const usualMethod = body === undefined && form.length === 0 ? "GET" : "POST";
  const method = call.method ?? usualMethod;
  return [
    `curl ${shellWord(url)}`,
    ...(method === usualMethod ? [] : [`-X ${method}`]),
    ...(isStream ? ["-N"] : []),
    `-H "Authorization: Bearer ${bearer}"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"']),
    ...(output === undefined ? [] : [`-o ${shellWord(output)}`]),
    ...form.map(({ name, value, isFile = false }) =>
      // What begins with @ or < would be read from a file.
      isFile
        ? `-F ${shellWord(`${name}=@${value}`)}`
        : `--form-string ${shellWord(`${name}=${value}`)}`,
    ),
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
