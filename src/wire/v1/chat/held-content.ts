import { ApiError } from "../../../base/errors.ts";

/** A run of text or of reasoning. */
export interface HeldRun {
  readonly text: string;
  readonly isReasoning: boolean;
}

/** More than the text of any answer within one call. */
const maxHeldChars = 16 * 1024 * 1024;
const joinedPieces = 256;
/** All runs are written in one turn of the event loop. No model switches this often in one call. */
const maxRuns = 1_000;

/**
 * Content that has to wait, for example because a tool call is not complete. Pieces of one kind are
 * joined: few long strings take less memory than many short ones.
 */
export class HeldContent {
  #runs: HeldRun[] = [];
  #pieces: string[] = [];
  #isReasoning = false;
  #chars = 0;

  /** Nothing is written for it yet: always "". */
  add({ text, isReasoning }: HeldRun): "" {
    this.#chars += text.length;
    if (this.#chars > maxHeldChars || this.#runs.length >= maxRuns)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: "the provider sent too much content within a tool call",
      });
    if (isReasoning !== this.#isReasoning) this.#endRun();
    this.#isReasoning = isReasoning;
    this.#pieces.push(text);
    if (this.#pieces.length >= joinedPieces) this.#pieces = [this.#pieces.join("")];
    return "";
  }

  /** All of it, in order; it is held no longer. */
  take(): readonly HeldRun[] {
    this.#endRun();
    const runs = this.#runs;
    this.#runs = [];
    this.#chars = 0;
    return runs;
  }

  #endRun(): void {
    if (this.#pieces.length === 0) return;
    this.#runs.push({ text: this.#pieces.join(""), isReasoning: this.#isReasoning });
    this.#pieces = [];
  }
}
