import { SegmentedControl } from "@mantine/core";
import type { ApiProblem } from "../../api.ts";
import { CompareChoice, DayInputs } from "../../components/period/period-picker.tsx";
import { dayOf } from "../../format/moments.ts";
import { ranges, type View } from "./usage.ts";

interface RangeControlsProps {
  readonly view: View;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
  readonly problem: ApiProblem | null;
}

const daysBack = { "1h": 0, "24h": 1, "7d": 6, "30d": 29, "90d": 89 } as const;
const dayMs = 86_400_000;

/** Presets, days of one's own choice, and what they are compared with. */
export function RangeControls({ view, onChange, problem }: RangeControlsProps) {
  const { range, days, isCompared } = view;
  const choose = (chosen: string) => {
    if (chosen !== "custom") return onChange({ range: chosen, from: undefined, to: undefined });
    // It starts as what is on screen.
    const nowMs = Date.now();
    onChange({
      range: undefined,
      from: dayOf(nowMs - daysBack[range] * dayMs),
      to: dayOf(nowMs),
    });
  };
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Time range"
        value={days === undefined ? range : "custom"}
        data={[
          ...ranges.map(({ value }) => ({ value, label: value })),
          { value: "custom", label: "Custom" },
        ]}
        onChange={choose}
      />
      {days !== undefined && <DayInputs days={days} onChange={onChange} problem={problem} />}
      <CompareChoice isOn={isCompared} onChange={onChange} />
    </>
  );
}
