const steps = [
  { unit: "min", ms: 60_000 },
  { unit: "h", ms: 3_600_000 },
  { unit: "d", ms: 86_400_000 },
] as const;

/** How long ago a moment was, in a column: `just now`, `5 min ago`, `3 d ago`, or its day. */
export function agoText(at: string, nowMs: number): string {
  const awayMs = nowMs - Date.parse(at);
  const step = steps.findLast(({ ms }) => awayMs >= ms);
  if (step === undefined) return "just now";
  const count = Math.floor(awayMs / step.ms);
  return step.unit === "d" && count > 30 ? at.slice(0, 10) : `${count} ${step.unit} ago`;
}

/** At most so wide; what is cut off ends in an ellipsis. */
export function cutText(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let cut = "";
  for (const letter of text) {
    if (Bun.stringWidth(cut + letter) > width - 1) break;
    cut += letter;
  }
  return `${cut}…`;
}
