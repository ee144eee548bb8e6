/**
 * Cuts text into the pieces that are spoken at once. Kokoro takes 510 symbols, is weak on a word or
 * two and hurries beyond about 400, so pieces stay well between.
 */
import { toParagraphs } from "./normalize/markup.ts";
import { normalize } from "./normalize/normalize.ts";
import { toPhonemes } from "./phonemes/phonemes.ts";

/** What follows a piece, which decides the pause after it. */
export type Boundary = "clause" | "sentence" | "paragraph" | "end";

export interface Piece {
  readonly phonemes: string;
  readonly boundary: Boundary;
}

/** Above this the voices hurry. */
const comfortableSymbols = 400;
/** Below this a sentence sounds clipped on its own and is spoken with the next one. */
const tinySymbols = 8;
/** A first sentence longer than this starts with its first clause, so that sound comes soon. */
const longFirstSymbols = 70;
const shortestClauseSymbols = 18;
/** A clause may be this much longer than wished: a cut within it would be heard. */
const clauseStretch = 1.5;

/** `flash` cuts at sentences and hastens the first piece; `pro` keeps paragraphs together. */
export function toPieces(text: string, style: "flash" | "pro"): Piece[] {
  const paragraphs = toParagraphs(text)
    .map((paragraph) => toSentences(normalize(paragraph)).flatMap(toParts))
    .filter((parts) => parts.length > 0);
  const gather = style === "pro" ? evenRuns : singleSentences;
  const pieces = paragraphs.flatMap((parts, index) =>
    toPiecesOf(gather(parts), index === paragraphs.length - 1 ? "end" : "paragraph"),
  );
  return style === "flash" ? withQuickStart(pieces) : pieces;
}

/**
 * Sentences of normalised text. Abbreviations and decimals are words by now, so a full stop ends a
 * sentence; an ellipsis does not, nor does a mark that the sentence runs on from ('"What?" he asked').
 */
export function toSentences(text: string): string[] {
  return text
    .split(/(?<=\.)\s+|(?<=(?:[!?]["”)]*|\.["”)]+))\s+(?![a-z])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[A-Za-z]/u.test(sentence));
}

/** The phonemes of a sentence, or of its parts where it is too long to be spoken at once. */
function toParts(sentence: string): string[] {
  const phonemes = toPhonemes(sentence);
  if (count(phonemes) <= comfortableSymbols)
    return /[a-zA-Zɑ-ʒæðŋθ]/u.test(phonemes) ? [phonemes] : [];
  return halve(sentence).flatMap(toParts);
}

/** At the clause mark nearest the middle, or at the space nearest it, or within the endless word. */
function halve(sentence: string): [string, string] {
  const middle = sentence.length / 2;
  for (const mark of [
    /[;:—…]["”)]*\s*/gu,
    /,["”)]*\s+/gu,
    /\s+(?=(?:and|or|but|which|that|because|when|if)\s)/gu,
    /\s+/gu,
  ]) {
    const ends = [...sentence.matchAll(mark)]
      .map((match) => match.index + match[0].length)
      .filter((end) => end > sentence.length / 8 && end < (sentence.length * 7) / 8);
    const best = ends.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
    if (best !== undefined) return [sentence.slice(0, best).trim(), sentence.slice(best).trim()];
  }
  const cut = Math.ceil(middle);
  return [sentence.slice(0, cut), sentence.slice(cut)];
}

/** One sentence a run; only a tiny one is spoken together with the next. */
function singleSentences(parts: readonly string[]): string[] {
  return joinWhile(parts, (run) => count(run) < tinySymbols);
}

/** As much of the paragraph as is comfortable. A long one is cut into even runs: a last run of one
 * short sentence would sound orphaned. */
function evenRuns(parts: readonly string[]): string[] {
  const fewest = Math.ceil(count(parts.join(" ")) / comfortableSymbols);
  for (let runCount = fewest; runCount < parts.length; runCount += 1) {
    const runs = cutEvenly(parts, runCount);
    if (runs.every((run) => count(run) <= comfortableSymbols)) return runs;
  }
  return [...parts];
}

/** A part belongs to the run in whose even share its middle lies. */
function cutEvenly(parts: readonly string[], runCount: number): string[] {
  const share = (count(parts.join(" ")) + 1) / runCount;
  const runs = Array.from({ length: runCount }, (): string[] => []);
  let start = 0;
  for (const part of parts) {
    const size = count(part) + 1;
    runs[Math.floor((start + size / 2) / share)]?.push(part);
    start += size;
  }
  return runs.filter((run) => run.length > 0).map((run) => run.join(" "));
}

function joinWhile(parts: readonly string[], wantsMore: (run: string) => boolean): string[] {
  const runs: string[] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    const joined = `${run ?? ""} ${part}`;
    if (run !== undefined && wantsMore(run) && count(joined) <= comfortableSymbols) {
      runs[runs.length - 1] = joined;
    } else {
      runs.push(part);
    }
  }
  return runs;
}

function toPiecesOf(runs: readonly string[], last: Boundary): Piece[] {
  return runs.map((phonemes, index) => {
    const inner = /[.!?][”)]*$/u.test(phonemes) ? "sentence" : "clause";
    return { phonemes, boundary: index === runs.length - 1 ? last : inner };
  });
}

/**
 * Speaks the first clause of a long first sentence on its own, so that sound comes a second or more
 * sooner; the next pieces may each be twice as long, so that sound is ready before the last one ends.
 */
function withQuickStart(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  let limit = longFirstSymbols;
  for (const piece of pieces) {
    let rest = piece.phonemes;
    while (limit < comfortableSymbols && count(rest) > limit) {
      const cut = clauseEnd(rest, limit);
      if (cut === undefined) break;
      out.push({ phonemes: rest.slice(0, cut).trim(), boundary: "clause" });
      rest = rest.slice(cut).trim();
      limit *= 2;
    }
    out.push({ phonemes: rest, boundary: piece.boundary });
    limit *= 2;
  }
  return out;
}

/** The first good place when haste is all, the last one within the limit afterwards. */
function clauseEnd(phonemes: string, limit: number): number | undefined {
  const ends = [...phonemes.matchAll(/[,;:—…][”)]*\s/gu)]
    .map((match) => match.index + match[0].length)
    .filter(
      (end) =>
        end >= shortestClauseSymbols &&
        end <= limit * clauseStretch &&
        phonemes.length - end >= shortestClauseSymbols,
    );
  return limit === longFirstSymbols ? ends[0] : ends.at(-1);
}

function count(phonemes: string): number {
  return [...phonemes].length;
}
