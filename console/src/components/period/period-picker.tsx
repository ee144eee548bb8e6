import { NativeSelect, TextInput } from "@mantine/core";
import type { ApiProblem } from "../../api.ts";
import { fieldError } from "../feedback/form-problem.tsx";
import type { Days } from "./period.ts";
import classes from "./period-picker.module.css";

type Change = (change: Readonly<Record<string, string | undefined>>) => void;

interface DayInputsProps {
  readonly days: Days;
  readonly onChange: Change;
  readonly problem: ApiProblem | null;
}

/** The first and the last day, in the address as `from` and `to`. */
export function DayInputs({ days, onChange, problem }: DayInputsProps) {
  const day = (name: keyof Days, label: string) => (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      value={days[name]}
      {...(name === "from" ? { max: days.to } : { min: days.from })}
      required
      onChange={(event) => {
        const { value } = event.currentTarget;
        // While it is typed, a date can be none.
        if (value !== "") onChange({ [name]: value });
      }}
      error={fieldError(problem, name)}
    />
  );
  return (
    <div className={classes.days}>
      {day("from", "First day")}
      <span className="soft">to</span>
      {day("to", "Last day")}
    </div>
  );
}

interface CompareChoiceProps {
  readonly isOn: boolean;
  readonly onChange: Change;
}

/** In the address as `compare=off`. */
export function CompareChoice({ isOn, onChange }: CompareChoiceProps) {
  return (
    <NativeSelect
      size="xs"
      aria-label="Compare with"
      value={isOn ? "previous" : "off"}
      data={[
        { value: "previous", label: "vs. previous period" },
        { value: "off", label: "No comparison" },
      ]}
      onChange={(event) =>
        onChange({ compare: event.currentTarget.value === "off" ? "off" : undefined })
      }
    />
  );
}

/** Where days cannot be in the reader's zone, that is said. */
export function DayZoneNote({ zone, shown }: { readonly zone: string; readonly shown: string }) {
  if (zone === shown) return null;
  return <p className={`soft small ${classes.note}`}>Days in these figures are {zone} days.</p>;
}
