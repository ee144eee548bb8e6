import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFilter2 } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { dialects } from "../../../../src/call/dialect.ts";
import { outcomeLabels } from "../../../../src/call/outcome.ts";
import { dialectNames } from "../../format/dialect-name.ts";
import { type Filters, forOutcome, rejected } from "./filters.ts";
import { KeyPicker } from "./key-picker.tsx";
import classes from "./page.module.css";
import { TimeFilter } from "./time-filter.tsx";

export interface Option {
  readonly value: string;
  readonly label: string;
}

/** What there is to choose from; empty where it is not to be chosen. */
export interface Choices {
  readonly models: readonly Option[];
  /** `all`: those of every account, which are searched rather than listed. */
  readonly keys: readonly Option[] | "all";
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
const same = (value: string): Option => ({ value, label: value });
const endpoints: readonly Option[] = ["chat", "embeddings", "speech", "transcription"].map(same);
const dialectOptions: readonly Option[] = dialects.map((value) => ({
  value,
  label: dialectNames[value],
}));

export function FilterBar({ filters, choices, onChange, onClear }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const [id, setId] = useState(filters.id);
  const sent = useRef(filters.id);
  const search = useDebouncedCallback((text: string) => {
    sent.current = text.trim();
    onChange({ id: sent.current });
  }, typingMs);
  // A link to one call changes it, too.
  useEffect(() => {
    if (filters.id !== sent.current) setId(filters.id);
    sent.current = filters.id;
  }, [filters.id]);
  const isRejected = filters.outcome === rejected;
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
        {choices.keys === "all" ? (
          <KeyPicker value={filters.key} onChange={(key) => onChange({ key })} />
        ) : (
          (choices.keys.length > 0 || filters.key !== "") && choice("key", "Key", choices.keys)
        )}
        {choices.providers.length > 0 &&
          !isRejected &&
          choice("provider", "Provider", choices.providers)}
        {choice("endpoint", "Endpoint", isRejected ? [...endpoints, same("models")] : endpoints)}
        {choice("dialect", "API format", dialectOptions)}
        <Choice
          label="Outcome"
          value={filters.outcome}
          options={outcomeOptions}
          onChange={(outcome) => onChange(forOutcome(outcome, filters))}
        />
        {choice("status", "HTTP status", isRejected ? refusedOptions : statusOptions)}
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
        <TimeFilter filters={filters} onChange={onChange} />
      </div>
      {count > 0 && (
        <Button size="compact-xs" variant="subtle" className={classes.clear} onClick={onClear}>
          Clear filters
        </Button>
      )}
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

/** What can come of a call; those that were refused before admission have no receipt. */
export const outcomeOptions: readonly Option[] = [
  { value: "ok", label: outcomeLabels.ok },
  { value: "failed", label: "All errors" },
  { value: rejected, label: "Rejected" },
  ...Object.entries(outcomeLabels)
    .filter(([value]) => value !== "ok")
    .map(([value, label]) => ({ value, label })),
];

/** Of replies to calls, admitted or not. */
const statusOptions: readonly Option[] = [
  200, 400, 401, 402, 403, 404, 409, 413, 429, 500, 502, 503, 504,
].map((status) => same(String(status)));
const refusedOptions = statusOptions.filter(({ value }) => value.startsWith("4"));
