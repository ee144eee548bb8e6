import { existsSync } from "node:fs";
import { extname } from "node:path";
import { Problem } from "../../base/problem.ts";
import { readWavHeader, type WavHeader } from "../../base/wav.ts";
import { voices } from "../../call/speak.ts";
import type { Command } from "../command.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printAside, style } from "../terminal/output.ts";
import { AudioFile } from "./audio-file.ts";
import { curlText } from "./curl-line.ts";
import {
  bytesOf,
  callFlags,
  callGateway,
  chooseModel,
  type GatewayReply,
  openGateway,
} from "./gateway-client.ts";
import { readWords, writeOut } from "./io.ts";

const path = "/audio/speech";
const wanted = { endpoint: "speech", input: "text", preferred: "svc-2.5-flash-tts" } as const;

type Format = "wav" | "pcm";

export const say: Command = {
  name: "say",
  about:
    "Convert text to speech and save it to a file. Default: speech.wav in this directory, or the next free name.",
  positionals: ["TEXT"],
  variadic: "WORD",
  flags: {
    output: { about: "output file; - writes to standard output", value: "FILE", short: "o" },
    voice: { about: `${voices.join(", ")} (default: Kore)`, value: "NAME", choices: voices },
    format: {
      about: "wav or pcm, 24 kHz, mono, 16 bits (default: from the file name)",
      value: "NAME",
      choices: ["wav", "pcm"],
    },
    ...callFlags,
    json: { about: "print the file name and timings as JSON" },
  },
  examples: [
    'svc say "Hello there" -o hello.wav',
    'svc say "Hello there" --voice Puck -o - | ffplay -nodisp -autoexit -',
    "svc say - -o letter.wav < letter.txt",
    "svc say Hello --format pcm -o - | aplay -f S16_LE -r 24000",
  ],
  async run(invocation) {
    const { flags, switches, positionals } = invocation;
    const { voice = "Kore", output } = flags;
    const format = readFormat(flags["format"], output);
    const input = await readWords(positionals, "TEXT");
    const toBody = (model: string) =>
      JSON.stringify({ model, input, voice, response_format: format });
    const target = output ?? freeName(format);
    if (target === "-" && process.stdout.isTTY === true && !switches.has("curl"))
      throw new Problem({
        code: "invalid",
        field: "output",
        message:
          "Audio cannot be written to a terminal. Specify a file, or pipe the output to a player.",
      });
    const gateway = await openGateway(invocation);
    const { model: named } = flags;
    if (switches.has("curl")) {
      const body = [toBody(await chooseModel({ gateway, wanted, named }))];
      return writeOut(curlText([{ url: `${gateway.baseUrl}${path}`, body, output: target }]));
    }
    const sink = target === "-" ? stdoutSink : fileSink(target);
    const figures = await interruptible(async (signal) => {
      const model = await chooseModel({ gateway, wanted, named, signal });
      const reply = await callGateway({
        gateway,
        path,
        body: toBody(model),
        flags: say.flags,
        signal,
      });
      return receive({ reply, sink, format, signal });
    });
    const text = switches.has("json")
      ? toJson({ target, format, figures })
      : toText(target, figures);
    // Stdout has the audio.
    if (target === "-") printAside(text);
    else print(text);
  },
};

/** Where the audio goes. */
interface Sink {
  write(bytes: Uint8Array): Promise<void>;
  finish(header: WavHeader | undefined): void;
  /** A sentence about the partial output of a call that failed. */
  abandon(): string;
}

const stdoutSink: Sink = { write: writeOut, finish: () => {}, abandon: () => "" };

function fileSink(target: string): Sink {
  const file = new AudioFile(target);
  return {
    write: async (bytes) => file.write(bytes),
    finish: (header) => file.finish(header),
    abandon: () => (file.abandon() ? ` The incomplete file ${target} was removed.` : ""),
  };
}

interface Figures {
  readonly sizeBytes: number;
  readonly durationS: number;
  readonly firstAudioS: number;
  readonly totalS: number;
}

interface Receiving {
  readonly reply: GatewayReply;
  readonly sink: Sink;
  readonly format: Format;
  readonly signal: AbortSignal;
}

async function receive({ reply, sink, format, signal }: Receiving): Promise<Figures> {
  const { response, startedMs } = reply;
  const meter = new AudioMeter(format);
  try {
    for await (const bytes of bytesOf(response, signal)) {
      meter.push(bytes);
      await sink.write(bytes);
    }
    const figures = meter.figures(startedMs);
    sink.finish(meter.header);
    return figures;
  } catch (error) {
    const removed = sink.abandon();
    if (signal.aborted && removed !== "") process.stderr.write(`${removed.trim()}\n`);
    throw error instanceof Problem ? error.reworded(error.message + removed) : error;
  }
}

/** No header is longer, so no more is kept. */
const maxHeaderBytes = 64 * 1024;
const pcmBytesPerSecond = 48_000;

/** Counts the bytes that arrive and reads the header of a WAV. */
class AudioMeter {
  readonly #format: Format;
  #start = new Uint8Array();
  #header: WavHeader | undefined;
  #sizeBytes = 0;
  #firstMs: number | undefined;

  constructor(format: Format) {
    this.#format = format;
  }

  get header(): WavHeader | undefined {
    return this.#header;
  }

  push(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length;
    if (this.#format === "wav" && this.#header === undefined) this.#readHeader(bytes);
    if (this.#sizeBytes > (this.#header?.dataOffset ?? 0)) this.#firstMs ??= performance.now();
  }

  /** Throws if the audio is incomplete. */
  figures(startedMs: number): Figures {
    const header = this.#header;
    if (this.#format === "wav" && header === undefined) throw noWav("is too short");
    const dataBytes = this.#sizeBytes - (header?.dataOffset ?? 0);
    if (dataBytes === 0 || dataBytes < (header?.dataBytes ?? 0))
      throw new Problem({ code: "failed", message: "The audio ended early." });
    const totalS = (performance.now() - startedMs) / 1000;
    return {
      sizeBytes: this.#sizeBytes,
      durationS: dataBytes / bytesPerSecond(header),
      firstAudioS: ((this.#firstMs ?? 0) - startedMs) / 1000,
      totalS,
    };
  }

  #readHeader(bytes: Uint8Array): void {
    this.#start = Buffer.concat([this.#start, bytes]);
    const reading = readWavHeader(this.#start);
    if (reading.ok) this.#header = reading;
    else if (!reading.needsMoreBytes || this.#start.length > maxHeaderBytes)
      throw noWav(reading.problem);
  }
}

function bytesPerSecond(header: WavHeader | undefined): number {
  if (header === undefined) return pcmBytesPerSecond;
  return (header.sampleRate * header.channels * header.bitsPerSample) / 8;
}

function noWav(problem: string): Problem {
  return new Problem({
    code: "failed",
    message: `The reply is not a valid WAV file. It ${problem}.`,
  });
}

const otherFormats = new Set([".mp3", ".ogg", ".opus", ".flac", ".aac", ".m4a"]);

function readFormat(named: string | undefined, output = ""): Format {
  const extension = extname(output).toLowerCase();
  if (named === undefined && otherFormats.has(extension))
    throw new Problem({
      code: "invalid",
      field: "output",
      message: `Only WAV and PCM are supported, not ${extension.slice(1)}.`,
    });
  if (named === undefined) return extension === ".pcm" || extension === ".raw" ? "pcm" : "wav";
  if (named !== "wav" && named !== "pcm")
    throw new Problem({
      code: "invalid",
      field: "format",
      message: `Expected wav or pcm, not "${named}".`,
    });
  return named;
}

/** Only a file that was named is overwritten. */
function freeName(format: Format): string {
  for (let count = 1; count <= 1000; count++) {
    const name = `speech${count === 1 ? "" : `-${count}`}.${format}`;
    if (!existsSync(name)) return name;
  }
  throw new Problem({
    code: "invalid",
    field: "output",
    message: "This directory already has 1000 speech files. Choose a file name.",
  });
}

function toText(target: string, { durationS, firstAudioS, totalS }: Figures): string {
  const figures = `${durationS.toFixed(2)} s of speech, first audio after ${firstAudioS.toFixed(2)} s, real-time factor ${(totalS / durationS).toFixed(2)}`;
  return target === "-" ? figures : `${style.green("wrote")} ${target}: ${figures}`;
}

function toJson(said: {
  readonly target: string;
  readonly format: Format;
  readonly figures: Figures;
}): string {
  const { target, format, figures } = said;
  const { sizeBytes, durationS, firstAudioS, totalS } = figures;
  return JSON.stringify(
    {
      file: target === "-" ? null : target,
      format,
      size_bytes: sizeBytes,
      duration_s: round(durationS),
      first_audio_s: round(firstAudioS),
      total_s: round(totalS),
      real_time_factor: round(totalS / durationS),
    },
    null,
    2,
  );
}

function round(number: number): number {
  return Math.round(number * 1000) / 1000;
}
