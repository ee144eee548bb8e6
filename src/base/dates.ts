const dateText = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A day (`2027-01-31`, midnight UTC) or a moment with its zone (`2027-01-31T12:00:00Z`). */
export function fromDateText(text: string): number | undefined {
  if (!dateText.test(text)) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  // Date.parse turns February 30th into March 2nd without a word.
  const day = Number(text.slice(8, 10));
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === day ? ms : undefined;
}

export function toDateText(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

export function optionalDate(ms: number | undefined): string | null {
  return ms === undefined ? null : toDateText(ms);
}

/** Of the moments that are known. */
export function earliest(...moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
