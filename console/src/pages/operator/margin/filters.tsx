import { Input, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import type { ApiProblem } from "../../../api.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { type Range, ranges } from "./days.ts";
import { type Group, groups } from "./margin.ts";
import classes from "./page.module.css";

export interface Filters {
  readonly by: Group;
  readonly range: Range;
  readonly from: string;
  readonly to: string;
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly problem: ApiProblem | null;
}

export function FilterBar({ filters, onChange, problem }: FilterBarProps) {
  const { by, range, from, to } = filters;
  const day = (name: "from" | "to", label: string, value: string) => (
    <TextInput
      type="date"
      w={170}
      label={label}
      value={value}
      onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
      error={fieldError(problem, name)}
    />
  );
  return (
    <div className={classes.filters}>
      <div className={classes.filter}>
        <Input.Label id="margin-by" labelElement="div">
          {" "}
          Group by{" "}
        </Input.Label>
        <SegmentedControl
          aria-labelledby="margin-by"
          data={[...groups]}
          value={by}
          onChange={(value) => onChange({ by: value })}
        />
      </div>
      <NativeSelect
        label="Period"
        data={[...ranges]}
        value={range}
        onChange={(event) => {
          const value = event.currentTarget.value;
          // A custom period starts as the one on screen.
          onChange(
            value === "days"
              ? { range: value, from, to }
              : { range: value, from: undefined, to: undefined },
          );
        }}
      />
      {range === "days" && day("from", "From", from)}
      {range === "days" && day("to", "To", to)}
    </div>
  );
}
