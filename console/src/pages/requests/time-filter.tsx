import { Button, Group, Input, Popover, Stack, TextInput } from "@mantine/core";
import { IconCalendar } from "@tabler/icons-react";
import { addDays } from "../../../../src/base/time-zone.ts";
import { toDays } from "../../components/period/period.ts";
import { dayOf, formatDate } from "../../format/moments.ts";
import type { Filters } from "./filters.ts";
import classes from "./page.module.css";

type Span = Pick<Filters, "from" | "to">;

interface TimeFilterProps {
  readonly filters: Span;
  readonly onChange: (change: Partial<Span>) => void;
}

/** From one day to another, each of them whole, in the zone that the page names. */
export function TimeFilter({ filters: { from, to }, onChange }: TimeFilterProps) {
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <div className={classes.when}>
        <Input.Label component="div" size="xs">
          Time
        </Input.Label>
        <Popover.Target>
          <Button
            size="xs"
            variant="default"
            fullWidth
            justify="space-between"
            rightSection={<IconCalendar size={14} />}
            aria-label={`Time: ${timeWords(from, to)}`}
          >
            {timeWords(from, to)}
          </Button>
        </Popover.Target>
      </div>
      <Popover.Dropdown maw={350}>
        <Stack gap="sm">
          <div className={classes.ranges}>
            {presets.map(({ label, first, last }) => (
              <Button
                key={label}
                size="compact-xs"
                variant="default"
                onClick={() => onChange(spanOf(first, last))}
              >
                {label}
              </Button>
            ))}
          </div>
          <Group gap="xs" grow wrap="nowrap">
            {(["from", "to"] as const).map((name) => (
              <TextInput
                key={name}
                size="xs"
                type="date"
                label={name === "from" ? "From" : "To"}
                value={name === "from" ? from : to}
                onChange={(event) => onChange({ [name]: event.currentTarget.value })}
              />
            ))}
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** In days from today. */
const presets = [
  { label: "Today", first: 0, last: 0 },
  { label: "Yesterday", first: -1, last: -1 },
  { label: "Last 7 days", first: -6, last: 0 },
  { label: "Last 30 days", first: -29, last: 0 },
];

function spanOf(first: number, last: number): Span {
  const today = dayOf(Date.now());
  return { from: addDays(today, first), to: addDays(today, last) };
}

function timeWords(from: string, to: string): string {
  if (from === "" && to === "") return "Any time";
  if (to === "") return `Since ${short(from)}`;
  if (from === "") return `Until ${short(to)}`;
  return from === to ? short(from) : `${short(from)} – ${short(to)}`;
}

/** The address may have something else. */
const short = (day: string) => (toDays(day, day) === undefined ? day : formatDate(day, "shortDay"));
