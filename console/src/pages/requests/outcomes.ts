export interface Option {
  readonly value: string;
  readonly label: string;
}

/** What can come of a call that was let in. */
export const outcomeOptions: readonly Option[] = [
  { value: "ok", label: "Answered" },
  { value: "left", label: "The caller left" },
  { value: "failed", label: "Any failure" },
  { value: "upstream_error", label: "The provider failed" },
  { value: "upstream_unavailable", label: "No provider reached" },
  { value: "upstream_overloaded", label: "Provider overloaded" },
  { value: "upstream_timeout", label: "Provider too slow" },
  { value: "upstream_rate_limited", label: "Provider asked too often" },
  { value: "upstream_rejected", label: "Refused by the provider" },
  { value: "content_filtered", label: "Content refused" },
  { value: "context_length_exceeded", label: "Input too long" },
  { value: "model_loading", label: "Model still loading" },
  { value: "shutting_down", label: "Gateway stopping" },
  { value: "store_unavailable", label: "Ledger not writable" },
  { value: "internal_error", label: "The gateway failed" },
];
