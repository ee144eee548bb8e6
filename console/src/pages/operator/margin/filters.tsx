import { NativeSelect, SegmentedControl } from "@mantine/core";
import type { ApiProblem } from "../../../api.ts";
import { CompareChoice, DayInputs } from "../../../components/period/period-picker.tsx";
import { SavedViews } from "../../../components/views/saved-views.tsx";
import { type Range, ranges } from "./days.ts";
import { type Group, groups } from "./margin.ts";
import classes from "./page.module.css";

export interface Filters {
  readonly by: Group;
  readonly range: Range;
  readonly from: string;
  readonly to: string;
  readonly isCompared: boolean;
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly problem: ApiProblem | null;
}

export function FilterBar({ filters, onChange, problem }: FilterBarProps) {
  const { by, range, from, to, isCompared } = filters;
  return (
    <div className={classes.filters}>
      <SegmentedControl
        size="xs"
        aria-label="Group by"
        data={groups.map(({ value, label }) => ({ value, label: `By ${label.toLowerCase()}` }))}
        value={by}
        onChange={(value) => onChange({ by: value })}
      />
      <NativeSelect
        size="xs"
        aria-label="Period"
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
      {range === "days" && <DayInputs days={{ from, to }} onChange={onChange} problem={problem} />}
      <CompareChoice isOn={isCompared} onChange={onChange} />
      <SavedViews page="margin" account={undefined} />
    </div>
  );
}
