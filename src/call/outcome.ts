/**
 * What came of a call or of one attempt, for people: in lists, on receipts, in exports and at the
 * command line. It names no vendor.
 */
export const outcomeLabels = {
  ok: "OK",
  left: "Client disconnected",
  upstream_error: "Provider error",
  upstream_unavailable: "No provider available",
  upstream_overloaded: "Provider overloaded",
  upstream_timeout: "Provider timeout",
  upstream_rate_limited: "Provider rate limit",
  upstream_rejected: "Rejected by provider",
  content_filtered: "Content filtered",
  context_length_exceeded: "Input too long",
  model_loading: "Model loading",
  shutting_down: "Gateway shutdown",
  store_unavailable: "Ledger unavailable",
  internal_error: "Gateway error",
} as const;

/** Codes that no admitted call ends with are still readable. */
export function outcomeLabel(outcome: string): string {
  // An attempt that brought the reply.
  if (outcome === "served") return outcomeLabels.ok;
  if (Object.hasOwn(outcomeLabels, outcome))
    return outcomeLabels[outcome as keyof typeof outcomeLabels];
  const words = outcome.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
