import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { invalid, Problem } from "../../base/problem.ts";
import { curlCommand, type FormField } from "../../base/text/curl.ts";
import { eitherOf } from "../../base/text/list-text.ts";
import { type TranscriptionFormat, transcriptionFormats } from "../../call/transcribe.ts";
import type { Command } from "../command.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { curlNote } from "./curl-line.ts";
import { callFlags, callGateway, chooseModel, openGateway } from "./gateway-client.ts";
import { writeOut } from "./io.ts";

const path = "/audio/transcriptions";
const wanted = {
  endpoint: "transcription",
  input: "text",
  preferred: "svc-transcribe-1",
} as const;
/** The gateway takes no larger ones. */
const maxFileBytes = 25 * 1024 * 1024;

export const transcribe: Command = {
  name: "transcribe",
  about: "Transcribe an audio file to text: WAV, MP3, FLAC, Ogg, M4A or WebM.",
  positionals: ["FILE"],
  flags: {
    format: {
      about: `${transcriptionFormats.join(", ")} (default: text)`,
      value: "NAME",
      choices: transcriptionFormats,
    },
    language: { about: "language of the audio, such as en (default: detected)", value: "CODE" },
    ...callFlags,
    json: { about: "print the reply as JSON (default format: json)" },
  },
  examples: [
    "svc transcribe speech.wav",
    "svc transcribe talk.mp3 --format srt > talk.srt",
    "svc transcribe call.m4a --language en --json",
  ],
  async run(invocation) {
    const { flags, switches, positionals } = invocation;
    const [file = ""] = positionals;
    const { language, model: named } = flags;
    const isJson = switches.has("json");
    const format = readFormat(flags["format"] ?? (isJson ? "json" : "text"));
    // A script that asks for JSON must not get subtitles.
    if (isJson && !format.endsWith("json"))
      throw invalid({ json: `json cannot be combined with --format ${format}.` });
    const audio = readAudio(file);
    const fields = (model: string): readonly FormField[] => [
      { name: "model", value: model },
      { name: "response_format", value: format },
      ...(language === undefined ? [] : [{ name: "language", value: language }]),
    ];
    const gateway = await openGateway(invocation);
    if (switches.has("curl")) {
      const model = await chooseModel({ gateway, wanted, named });
      const form = [{ name: "file", value: file, isFile: true }, ...fields(model)];
      const url = `${gateway.baseUrl}${path}`;
      return writeOut(`${curlNote}\n${curlCommand({ url, bearer: "${KEY:?}", form })}\n`);
    }
    const text = await interruptible(async (signal) => {
      const form = new FormData();
      for (const { name, value } of fields(await chooseModel({ gateway, wanted, named, signal })))
        form.append(name, value);
      form.append("file", new File([audio], basename(file)));
      const call = { gateway, path, body: form, flags: transcribe.flags, signal };
      const { response } = await callGateway(call);
      return response.text();
    });
    await writeOut(text.endsWith("\n") ? text : `${text}\n`);
  },
};

function readFormat(named: string): TranscriptionFormat {
  const format = transcriptionFormats.find((known) => known === named);
  if (format !== undefined) return format;
  throw new Problem({
    code: "invalid",
    field: "format",
    message: `Expected ${eitherOf(transcriptionFormats)}, not "${named}".`,
  });
}

function readAudio(file: string): Uint8Array<ArrayBuffer> {
  try {
    const { size } = statSync(file);
    if (size <= maxFileBytes) return new Uint8Array(readFileSync(file));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const message =
      code === "ENOENT" ? `${file} does not exist.` : `${file} cannot be read (${code}).`;
    throw new Problem({ code: "invalid", message, cause });
  }
  throw new Problem({
    code: "invalid",
    message: `${file} is larger than ${maxFileBytes / 1024 / 1024} MiB. Split it, or compress it.`,
  });
}
