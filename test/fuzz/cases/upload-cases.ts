import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import type { Dice } from "./dice.ts";
import { type FuzzCase, toRequest } from "./fuzz-case.ts";
import { writeJson } from "./json-text.ts";
import { oddText, promptMark, wrongValue } from "./odd-values.ts";
import { sentence } from "./words.ts";

/** One part of a form: its head lines, and its bytes. */
interface Part {
  readonly head: string;
  readonly bytes: Buffer;
}

const sound = Buffer.from(fixtureBytes("sine-24khz-list-chunk.wav"));
const field = (name: string, text: string): Part => ({
  head: `content-disposition: form-data; name="${name}"`,
  bytes: Buffer.from(text),
});

function goodParts(dice: Dice): readonly Part[] {
  const file = {
    head: 'content-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav',
    bytes: sound,
  };
  const formats = ["json", "text", "srt", "verbose_json", "vtt"];
  return [
    file,
    field("model", "whisper"),
    field("language", "en"),
    field("prompt", `${promptMark} ${sentence(dice)}`),
    field("response_format", dice.pick(formats)),
    field("temperature", dice.pick(["0", "0.5", "1"])),
  ];
}

type Spoil = (dice: Dice, parts: readonly Part[]) => readonly Part[];

/** What is wrong with the parts, by name. */
const spoils: Readonly<Record<string, Spoil>> = {
  "a part less": (dice, parts) => parts.toSpliced(dice.below(parts.length), 1),
  "a part twice": (dice, parts) => [...parts, dice.pick(parts)],
  "another order": (dice, parts) => dice.shuffled(parts),
  "an odd text": (dice, parts) => {
    const at = dice.below(parts.length);
    const odd = dice.percent(50) ? oddText(dice) : wrongValue(dice);
    const text = typeof odd === "string" ? odd : writeJson(odd);
    return parts.with(at, { head: parts[at]?.head ?? "", bytes: Buffer.from(text) });
  },
  "another sound": (dice, parts) => {
    const bytes = Buffer.from(sound.subarray(0, dice.below(sound.length)));
    for (let left = dice.below(20); left > 0 && bytes.length > 0; left--)
      bytes[dice.below(bytes.length)] = dice.below(256);
    return parts.map((part) => (part.bytes === sound ? { ...part, bytes } : part));
  },
  "an odd head": (dice, parts) => {
    const at = dice.below(parts.length);
    const heads = [
      "",
      "content-disposition: form-data",
      'content-disposition: form-data; name=""',
      `content-disposition: form-data; name="${"a".repeat(20_000)}"`,
      'content-disposition: form-data; name="file"; filename="../../etc/passwd"',
      'content-disposition: form-data; name="__proto__"',
      `x: ${"y".repeat(9_000)}`,
      "no colon",
    ];
    return parts.with(at, { head: dice.pick(heads), bytes: parts[at]?.bytes ?? Buffer.alloc(0) });
  },
  "very many parts": (dice, parts) => [
    ...parts,
    ...dice.list(dice.magnitude(10, 5_000), (at) => field(`f${at}`, "x")),
  ],
};

/** An upload of a sound, with something wrong in it. */
export function uploadCase(dice: Dice, key: string): FuzzCase {
  const boundary = `----b${dice.below(1e9)}`;
  const [name = "", spoil = (_: Dice, parts: readonly Part[]) => parts] = dice.pick(
    Object.entries(spoils),
  );
  const body = toForm(spoil(dice, goodParts(dice)), boundary);
  const isCut = dice.percent(20);
  const told = dice.percent(90) ? boundary : dice.pick(["", "other", "a".repeat(300)]);
  const bytes = toRequest({
    target: "/v1/audio/transcriptions",
    headers: [
      ["authorization", `Bearer ${key}`],
      ["content-type", `multipart/form-data; boundary=${told}`],
    ],
    body: isCut ? body.subarray(0, dice.below(body.length)) : body,
  });
  return {
    group: "upload",
    name: `transcription: ${name}${isCut ? ", cut" : ""}`,
    bytes,
    form: "good",
    expects: [{ reply: "transcription", statuses: [200, 400, 403, 413, 415] }],
  };
}

function toForm(parts: readonly Part[], boundary: string): Buffer {
  const pieces = parts.flatMap(({ head, bytes }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}
