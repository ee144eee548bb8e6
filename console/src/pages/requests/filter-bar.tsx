import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFilter2 } from "@tabler/icons-react";
import { useState } from "react";
import type { Filters } from "./filters.ts";
import classes from "./page.module.css";

export interface Option {
  readonly value: string;
  readonly label: string;
}

/** What there is to choose from; empty where it is not to be chosen. */
export interface Choices {
  readonly models: readonly Option[];
  readonly keys: readonly Option[];
  readonly accounts: readonly Option[];
  readonly providers: readonly Option[];
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly choices: Choices;
  readonly onChange: (change: Partial<Filters>) => void;
  readonly onClear: () => void;
}

const typingMs = 300;
const endpoints: readonly Option[] = ["chat", "embeddings", "speech"].map((value) => ({
  value,
  label: value,
}));

export function FilterBar({ filters, choices, onChange, onClear }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const [id, setId] = useState(filters.id);
  const search = useDebouncedCallback((text: string) => onChange({ id: text.trim() }), typingMs);
  const count = Object.values(filters).filter((value) => value !== "").length;
  const choice = (name: keyof Filters, label: string, options: readonly Option[]) => (
    <Choice
      label={label}
      value={filters[name]}
      options={options}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <section aria-label="Filters" className={classes.filters} data-open={isOpen}>
      <Button
        className={classes.opener}
        variant="default"
        leftSection={<IconFilter2 size={16} />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {count === 0 ? "Filters" : `Filters (${count})`}
      </Button>
      <div className={classes.fields}>
        {choice("model", "Model", choices.models)}
        {choices.accounts.length > 0 && choice("account", "Account", choices.accounts)}
        {(choices.keys.length > 0 || filters.key !== "") && choice("key", "Key", choices.keys)}
        {choices.providers.length > 0 && choice("provider", "Provider", choices.providers)}
        {choice("endpoint", "Endpoint", endpoints)}
        {choice("outcome", "Outcome", outcomeOptions)}
        <TextInput
          size="xs"
          label="Request ID"
          placeholder="req_…"
          value={id}
          spellCheck={false}
          onChange={(event) => {
            setId(event.currentTarget.value);
            search(event.currentTarget.value);
          }}
        />
        <TextInput
          size="xs"
          type="date"
          label="From (UTC)"
          value={filters.from}
          onChange={(event) => onChange({ from: event.currentTarget.value })}
        />
        <TextInput
          size="xs"
          type="date"
          label="To (UTC)"
          value={filters.to}
          onChange={(event) => onChange({ to: event.currentTarget.value })}
        />
        {count > 0 && (
          <Button size="xs" variant="subtle" className={classes.clear} onClick={onClear}>
            Clear filters
          </Button>
        )}
      </div>
    </section>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}) {
  const { label, value, options, onChange } = props;
  // What the address asks for may be gone from the list: a revoked key, a retired model.
  const isKnown = value === "" || options.some((option) => option.value === value);
  return (
    <NativeSelect
      size="xs"
      label={label}
      value={value}
      data={[
        { value: "", label: "All" },
        ...options,
        ...(isKnown ? [] : [{ value, label: value }]),
      ]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** What can come of a call that was let in. */
export const outcomeOptions: readonly Option[] = [
  { value: "ok", label: "Succeeded" },
  { value: "left", label: "Caller disconnected" },
  { value: "failed", label: "Any failure" },
  { value: "upstream_error", label: "Provider error" },
  { value: "upstream_unavailable", label: "No provider available" },
  { value: "upstream_overloaded", label: "Provider overloaded" },
  { value: "upstream_timeout", label: "Provider timeout" },
  { value: "upstream_rate_limited", label: "Provider rate limit" },
  { value: "upstream_rejected", label: "Rejected by provider" },
  { value: "content_filtered", label: "Blocked by content filter" },
  { value: "context_length_exceeded", label: "Input too long" },
  { value: "model_loading", label: "Model loading" },
  { value: "shutting_down", label: "Gateway shutting down" },
  { value: "store_unavailable", label: "Ledger unavailable" },
  { value: "internal_error", label: "Gateway error" },
];
