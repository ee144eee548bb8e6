import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import type { Reply } from "../../api.ts";
import { useApi } from "../../queries.ts";

type Key = Reply<"GET /api/keys">["keys"][number];

interface KeyPickerProps {
  readonly value: string;
  readonly onChange: (id: string) => void;
}

const typingMs = 300;
const mostShown = 50;

/** A key of any account, found by its name, its masked secret or its account. */
export function KeyPicker({ value, onChange }: KeyPickerProps) {
  const [typed, setTyped] = useState("");
  const [find] = useDebouncedValue(typed.trim(), typingMs);
  const chosen = useApi("GET /api/keys", { query: { find: value } }, { enabled: value !== "" });
  const label = labelOf(chosen.data?.keys.find(({ id }) => id === value)) ?? value;
  // The field has the label of what is chosen, which is no search.
  const query = { find: find === label ? "" : find };
  const found = useApi("GET /api/keys", { query }, { keepsOld: true });
  const options = (found.data?.keys ?? [])
    .slice(0, mostShown)
    .map((key) => ({ value: key.id, label: labelOf(key) ?? key.id }));
  const isListed = value === "" || options.some((option) => option.value === value);
  return (
    <Select
      size="xs"
      label="Key"
      placeholder="All"
      data={isListed ? options : [{ value, label }, ...options]}
      // The platform has searched already, by more than the label.
      filter={({ options: all }) => all}
      value={value === "" ? null : value}
      onChange={(id) => onChange(id ?? "")}
      onSearchChange={setTyped}
      searchable
      clearable
      clearButtonProps={{ "aria-label": "All keys" }}
      comboboxProps={{ width: 280, position: "bottom-start" }}
      nothingFoundMessage="No matches."
    />
  );
}

function labelOf(key: Key | undefined): string | undefined {
  if (key === undefined) return undefined;
  return `${key.name === "" ? key.hint : key.name} · ${key.account_name}`;
}
