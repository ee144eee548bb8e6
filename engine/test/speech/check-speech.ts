/**
 * Speaks twenty sentences, has a recognizer write down what it hears, and counts the wrong words. Each
 * sentence comes with its spoken form written by hand: a number read wrongly is an error even where the
 * recognizer would spell the wrong reading with the same digits.
 * The weights come from the cache, fetched if need be, or from --speech DIR and --recognizer DIR.
 */
import { parseArgs } from "node:util";
import { type SpeechJob, type VoiceName, voiceNames } from "../../contract.ts";
import { sampleRate } from "../../speech/audio.ts";
import { loadSpeech } from "../../speech/speech.ts";
import { loadRecognizer } from "../../transcription/whisper.ts";
import { weightsDir } from "../weights/weights-dir.ts";

import { toWords, wordErrors } from "./word-errors.ts";

const largestErrorRate = 0.1;

const sentences: ReadonlyArray<readonly [written: string, spoken: string]> = [
  ["The quick brown fox jumps over the lazy dog.", "the quick brown fox jumps over the lazy dog"],
  [
    "On March 3rd, 2027, we open at 9:05 in the morning.",
    "on march third twenty twenty-seven we open at nine oh five in the morning",
  ],
  [
    "The ticket costs $3.50, and parking is another $12.",
    "the ticket costs three dollars and fifty cents and parking is another twelve dollars",
  ],
  [
    "Please send the PDF to the HR department before Friday.",
    "please send the P D F to the H R department before friday",
  ],
  [
    "Our API handled 1,250 requests per second.",
    "our A P I handled one thousand two hundred fifty requests per second",
  ],
  [
    "NASA launched the telescope in 1990, and it still works today.",
    "nasa launched the telescope in nineteen ninety and it still works today",
  ],
  [
    "It was -5 °C last night, so the lake is frozen.",
    "it was minus five degrees celsius last night so the lake is frozen",
  ],
  ["About 45% of the voters said yes.", "about forty-five percent of the voters said yes"],
  [
    "Dr. Smith lives at 12 Main St. near the old church.",
    "doctor smith lives at twelve main street near the old church",
  ],
  [
    "The meeting starts at 2:30 p.m. and ends at 4.",
    "the meeting starts at two thirty P M and ends at four",
  ],
  [
    "Queen Elizabeth II visited the museum twice.",
    "queen elizabeth the second visited the museum twice",
  ],
  [
    "The company raised £1.2 million in 2019.",
    "the company raised one point two million pounds in twenty nineteen",
  ],
  [
    "Call (212) 555-0142 before noon.",
    "call two one two five five five zero one four two before noon",
  ],
  [
    "She ran 5 km in 27 minutes and finished 3rd.",
    "she ran five kilometers in twenty-seven minutes and finished third",
  ],
  [
    "The USA and the UK signed the agreement on 2026-07-04.",
    "the U S A and the U K signed the agreement on july fourth twenty twenty-six",
  ],
  [
    "Could you bring me a glass of water and some bread?",
    "could you bring me a glass of water and some bread",
  ],
  [
    "I'd rather walk home than wait another hour for the bus!",
    "i'd rather walk home than wait another hour for the bus",
  ],
  ["The new GPU has 16 GB of memory.", "the new G P U has sixteen gigabytes of memory"],
  [
    "Add 1/2 cup of sugar, two eggs, and a little salt.",
    "add one half cup of sugar two eggs and a little salt",
  ],
  [
    "Although the storm had passed, the streets were empty, and only a few lights were still burning.",
    "although the storm had passed the streets were empty and only a few lights were still burning",
  ],
];

interface Row {
  readonly voice: VoiceName;
  readonly style: SpeechJob["style"];
  readonly written: string;
  readonly heard: string;
  readonly words: number;
  readonly errors: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      speech: { type: "string" },
      recognizer: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const rows = await speakAndHear({
    speech: values.speech ?? (await weightsDir("speech")),
    recognizer: values.recognizer ?? (await weightsDir("recognizer")),
    onRow: (done) => {
      if (!values.json) process.stderr.write(`\r${done} of ${sentences.length} sentences`);
    },
  });
  const words = sum(rows.map((row) => row.words));
  const errors = sum(rows.map((row) => row.errors));
  const errorRate = errors / words;
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ rows, words, errors, errorRate })}\n`);
  } else {
    process.stderr.write("\n");
    process.stdout.write(report(rows, { words, errors }));
  }
  process.exitCode = errorRate > largestErrorRate ? 1 : 0;
}

async function speakAndHear({
  speech: speechDir,
  recognizer: recognizerDir,
  onRow,
}: {
  readonly speech: string;
  readonly recognizer: string;
  readonly onRow: (done: number) => void;
}): Promise<Row[]> {
  const speech = await loadSpeech({ dir: speechDir });
  const recognizer = await loadRecognizer(recognizerDir);
  const { signal } = new AbortController();
  const rows: Row[] = [];
  for (const [index, [written, spoken]] of sentences.entries()) {
    const voice = voiceNames[index % voiceNames.length] ?? "Kore";
    // Every voice speaks in both styles: five voices, then the other style for the next five.
    const style = Math.floor(index / voiceNames.length) % 2 === 0 ? "flash" : "pro";
    const samples: number[] = [];
    await speech.run(
      { text: written, voice, style },
      { signal, emit: (piece) => piece.forEach((sample) => samples.push(sample / 32_768)) },
    );
    const heard = await recognizer.hear(Float32Array.from(samples), sampleRate);
    const expected = toWords(spoken);
    const errors = wordErrors(expected, toWords(heard));
    rows.push({ voice, style, written, heard, words: expected.length, errors });
    onRow(rows.length);
  }
  return rows;
}

function report(
  rows: readonly Row[],
  total: { readonly words: number; readonly errors: number },
): string {
  const lines = rows.map(
    ({ voice, style, written, heard, words, errors }) =>
      `${percent(errors / words).padStart(4)}  ${voice.padEnd(6)} ${style.padEnd(5)}  ${written}\n      heard         ${heard}`,
  );
  const rate = percent(total.errors / total.words);
  return `${lines.join("\n")}\n\nWord error rate ${rate}: ${total.errors} of ${total.words} words; at most ${percent(largestErrorRate)} is allowed.\n`;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)}%`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

await main();
