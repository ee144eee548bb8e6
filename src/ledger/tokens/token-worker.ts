import { parentPort } from "node:worker_threads";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";

/** The thread of TokenCounter: says once that it is ready, then answers each list with one number. */

// A text may well hold the spelling of a special token: it is text to us, so nothing is disallowed.
const asPlainText = { disallowedSpecial: new Set<string>() };
// The cache is of long words; the library's own bound would let it grow to over 100 MB.
setMergeCacheSize(5_000);

/**
 * The tokenizer's time grows with the square of an unbroken run: a megabyte of one letter would
 * take hours. So a run is cut every 200 characters. A text without such a run is counted exactly,
 * one with it is off by a token or two a cut. The slash stands with the white space because the
 * encoding lets a mix of it and line ends follow punctuation as one piece.
 */
const longRun = /[\p{L}\p{M}]{200}|[^\s\p{L}\p{N}]{200}|[\s/]{200}/gu;

function countText(text: string): number {
  let tokens = 0;
  let start = 0;
  for (const run of text.matchAll(longRun)) {
    const end = run.index + run[0].length;
    tokens += countTokens(text.slice(start, end), asPlainText);
    start = end;
  }
  return tokens + countTokens(text.slice(start), asPlainText);
}

parentPort?.on("message", (texts: readonly string[]) => {
  parentPort?.postMessage(
    texts.reduce((tokens, text) => tokens + countText(text), 0),
    [],
  );
});
parentPort?.postMessage("ready", []);
