import { join } from "node:path";

/** Seconds by the name of the decoder; 0 where it refuses the file. */
export type Played = Readonly<Record<string, number>>;

interface Made {
  readonly made: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

/** Without a name where it is played by its content alone. */
type FileToPlay = readonly [path: string, named: string, mostS: number];

/** One long-lived process that plays files, started again where a file has crashed it. */
export class Decoders {
  readonly #python: string;
  #child: ReturnType<typeof start> | undefined;

  constructor(python: string) {
    this.#python = python;
  }

  async make(folder: string, seconds: number): Promise<Made> {
    const answer = await this.#ask({ make: folder, seconds });
    if (answer === undefined) throw new Error("the encoders made no corpus");
    return answer as Made;
  }

  /** A file that crashes its decoders is not played by them. */
  async play(files: readonly FileToPlay[]): Promise<readonly Played[]> {
    const answer = await this.#ask({ play: files });
    if (answer !== undefined) return (answer as { readonly played: readonly Played[] }).played;
    const [only] = files;
    if (only === undefined || files.length === 1) return [{}];
    const half = Math.ceil(files.length / 2);
    const first = await this.play(files.slice(0, half));
    return [...first, ...(await this.play(files.slice(half)))];
  }

  async stop(): Promise<void> {
    this.#child?.process.kill();
    await this.#child?.process.exited;
  }

  async #ask(request: unknown): Promise<unknown> {
    this.#child ??= start(this.#python);
    const { process, lines } = this.#child;
    process.stdin.write(`${JSON.stringify(request)}\n`);
    await process.stdin.flush();
    const { value } = await lines.next();
    if (value !== undefined) return JSON.parse(value);
    this.#child = undefined;
    return undefined;
  }
}

function start(python: string) {
  const process = Bun.spawn([python, join(import.meta.dir, "decoders.py")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  return { process, lines: linesOf(process.stdout) };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}
