/** How a stream ended: well, with an error, or in a way that no client can make sense of. */
export type Verdict = "good" | "failed" | "cut" | "error and end" | "more after its end";

/**
 * Judges what a caller got. A good stream has one end, which is its last event, and no error. A
 * failed one has an error as its last event, and no end.
 */
export function verdictOf(text: string, endMark: string): Verdict {
  const events = text.split("\n\n").filter((event) => event !== "");
  const mark = endMark.trimEnd();
  const isEnd = (event: string) =>
    event.includes(mark) || event.includes('"type":"response.incomplete"');
  const ends = events.filter(isEnd).length;
  const hasError = events.some(isError);
  if (ends > 0 && hasError) return "error and end";
  const last = events.at(-1) ?? "";
  if (ends > 0) return ends === 1 && isEnd(last) ? "good" : "more after its end";
  return isError(last) && text.endsWith("\n\n") ? "failed" : "cut";
}

const isError = (event: string) => /^data: .*("type":"error"|"error":\{)/m.test(event);
