import { NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";
import { actionGroups } from "./actions.ts";
import classes from "./page.module.css";
import { type AuditFilters, auditFilterNames } from "./records.ts";

interface FiltersProps {
  readonly filters: AuditFilters;
  readonly onChange: (change: Partial<AuditFilters>) => void;
}

const everything = { value: "", label: "All actions" };
const typingMs = 300;

export function Filters({ filters, onChange }: FiltersProps) {
  return (
    <search aria-label="Filters" className={classes.filters}>
      <TypedFilter name="search" label="Search" filters={filters} onChange={onChange} />
      <TypedFilter name="actor" label="Actor" filters={filters} onChange={onChange} />
      <NativeSelect
        size="xs"
        label="Action"
        data={[
          everything,
          ...actionGroups().map((group) => ({ ...group, items: [...group.items] })),
        ]}
        value={filters.action}
        onChange={(event) => onChange({ action: event.currentTarget.value })}
      />
      <TypedFilter name="subject" label="Subject" filters={filters} onChange={onChange} />
      {(["from", "to"] as const).map((name) => (
        <TextInput
          key={name}
          size="xs"
          type="date"
          label={name === "from" ? "From" : "To"}
          value={filters[name]}
          onChange={(event) => onChange({ [name]: event.currentTarget.value })}
        />
      ))}
    </search>
  );
}

interface TypedFilterProps extends FiltersProps {
  readonly name: (typeof auditFilterNames)[number];
  readonly label: string;
}

/** The platform is asked when the typing stops. */
function TypedFilter({ name, label, filters, onChange }: TypedFilterProps) {
  const [text, setText] = useState(filters[name]);
  const tell = useDebouncedCallback((typed: string) => onChange({ [name]: typed }), typingMs);
  return (
    <TextInput
      size="xs"
      label={label}
      value={text}
      spellCheck={false}
      onChange={(event) => {
        setText(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
    />
  );
}
