import { Button, Select } from "@mantine/core";
import { StateBadge } from "../../components/table/state-badge.tsx";
import { formatDay } from "../../format/moments.ts";
import type { PlaygroundModel } from "./models.ts";
import classes from "./playground.module.css";

interface ModelPickerProps {
  readonly models: readonly PlaygroundModel[];
  readonly model: PlaygroundModel;
  readonly onChange: (id: string) => void;
}

export function ModelPicker({ models, model, onChange }: ModelPickerProps) {
  return (
    <div>
      <Select
        label="Model"
        data={models.map(({ id }) => id)}
        value={model.id}
        onChange={(id) => id !== null && onChange(id)}
        allowDeselect={false}
        searchable={models.length > 8}
        classNames={{ input: classes.mono ?? "" }}
      />
      {model.status === "deprecated" && (
        <Deprecation model={model} models={models} onChange={onChange} />
      )}
    </div>
  );
}

function Deprecation({ models, model, onChange }: ModelPickerProps) {
  const { retires_at, replacement } = model;
  const successor = models.find(({ id }) => id === replacement);
  return (
    <div className={classes.deprecation}>
      <StateBadge state="deprecated" />
      <p>
        {retires_at === null ? "" : `Retires on ${formatDay(Date.parse(retires_at))}. `}
        {replacement === null ? "" : `Use ${replacement} instead.`}
      </p>
      {successor !== undefined && (
        <Button size="compact-xs" variant="default" onClick={() => onChange(successor.id)}>
          {" "}
          Switch to {successor.id}{" "}
        </Button>
      )}
    </div>
  );
}
