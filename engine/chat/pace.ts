/**
 * Finds out, token by token, whether all threads or a single one are quicker just now. Threads
 * wait for each other at every step of a token: on a machine that is busy with other work, two of
 * them were seen to take ten times as long as one; on an idle one, half as long.
 */
export interface Pace {
  /** To be used for the next token. */
  readonly threads: number;
  /** How long the last token took. */
  note(ms: number): void;
}

const shortestStretch = 8;
const longestStretch = 128;

export function createPace(most: number): Pace {
  let chosen = most;
  let other = 1;
  /** The middle of what the chosen one took lately: one late token says nothing. */
  let usualMs = 0;
  let stretch = 2;
  let left = stretch;
  return {
    get threads() {
      return left === 0 ? other : chosen;
    },
    note(ms) {
      if (most === 1) return;
      if (left > 0) {
        usualMs = usualMs === 0 ? ms : Math.min(ms, usualMs * 1.25);
        left -= 1;
        return;
      }
      // That was a try of the other.
      if (ms < usualMs * 0.9) {
        [chosen, other] = [other, chosen];
        usualMs = ms;
        stretch = shortestStretch;
      } else {
        // What lost by far is tried again much later.
        const factor = ms > usualMs * 4 ? 8 : 2;
        stretch = Math.min(longestStretch, Math.max(shortestStretch, stretch * factor));
      }
      left = stretch;
    },
  };
}
