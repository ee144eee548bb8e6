import { Checkbox, NumberInput, Select, Textarea } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./chat.module.css";
import { type ChatParameters, noParameters } from "./conversation.ts";

interface ParametersFormProps {
  /** Settings that the chosen format has no field for. */
  readonly lacks: readonly (keyof ChatParameters)[];
  readonly value: ChatParameters;
  readonly onChange: (value: ChatParameters) => void;
  readonly mostTokens: number | null;
}

const own = "Default";
const efforts = ["none", "minimal", "low", "medium", "high"];

export function ParametersForm({ value, onChange, mostTokens, lacks }: ParametersFormProps) {
  const set = (change: Partial<ChatParameters>) => onChange({ ...value, ...change });
  return (
    <>
      <Textarea
        label="System prompt"
        placeholder="How the model should behave"
        autosize
        minRows={2}
        maxRows={8}
        value={value.system}
        onChange={({ currentTarget }) => set({ system: currentTarget.value })}
      />
      <Fold label="Parameters" count={countOf(value, lacks)}>
        <Figures value={value} set={set} mostTokens={mostTokens} lacks={lacks} />
        <Select
          label="Reasoning effort"
          placeholder={own}
          data={efforts}
          clearable
          value={value.effort ?? null}
          onChange={(effort) => set({ effort: effort ?? undefined })}
        />
        {!lacks.includes("stop") && (
          <Textarea
            label="Stop sequences"
            description="One per line. The reply stops before the first match."
            autosize
            minRows={1}
            maxRows={4}
            value={value.stop}
            onChange={({ currentTarget }) => set({ stop: currentTarget.value })}
          />
        )}
        {!lacks.includes("isJson") && (
          <Checkbox
            label="JSON mode"
            checked={value.isJson}
            onChange={({ currentTarget }) => set({ isJson: currentTarget.checked })}
          />
        )}
      </Fold>
    </>
  );
}

interface FiguresProps extends Omit<ParametersFormProps, "onChange"> {
  readonly set: (change: Partial<ChatParameters>) => void;
}

function Figures({ value, set, mostTokens, lacks }: FiguresProps) {
  return (
    <div className={classes.pair}>
      <Figure
        label="Temperature"
        value={value.temperature}
        range={{ min: 0, max: 2, step: 0.1 }}
        onChange={(temperature) => set({ temperature })}
      />
      <Figure
        label="Top p"
        value={value.topP}
        range={{ min: 0, max: 1, step: 0.05 }}
        onChange={(topP) => set({ topP })}
      />
      <Figure
        label="Max tokens"
        value={value.maxTokens}
        range={{ min: 1, max: mostTokens ?? Number.MAX_SAFE_INTEGER, step: 64 }}
        onChange={(maxTokens) => set({ maxTokens })}
      />
      {!lacks.includes("seed") && (
        <Figure
          label="Seed"
          value={value.seed}
          range={{ min: 0, max: Number.MAX_SAFE_INTEGER, step: 1 }}
          onChange={(seed) => set({ seed })}
        />
      )}
      {!lacks.includes("presencePenalty") && (
        <Figure
          label="Presence penalty"
          value={value.presencePenalty}
          range={{ min: -2, max: 2, step: 0.1 }}
          onChange={(presencePenalty) => set({ presencePenalty })}
        />
      )}
      {!lacks.includes("frequencyPenalty") && (
        <Figure
          label="Frequency penalty"
          value={value.frequencyPenalty}
          range={{ min: -2, max: 2, step: 0.1 }}
          onChange={(frequencyPenalty) => set({ frequencyPenalty })}
        />
      )}
    </div>
  );
}

interface FoldProps {
  readonly label: string;
  readonly count: number;
  readonly children: ReactNode;
}

function Fold({ label, count, children }: FoldProps) {
  return (
    <details className={classes.fold}>
      <summary>
        {label}
        <span>{count === 0 ? own : `${count} set`}</span>
      </summary>
      <div className={classes.folded}>{children}</div>
    </details>
  );
}

function countOf(value: ChatParameters, lacks: ParametersFormProps["lacks"]): number {
  const names = Object.keys(noParameters) as (keyof ChatParameters)[];
  const shown = names.filter((name) => name !== "system" && !lacks.includes(name));
  return shown.filter((name) => value[name] !== noParameters[name]).length;
}

interface FigureProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly range: { readonly min: number; readonly max: number; readonly step: number };
  readonly onChange: (value: number | undefined) => void;
}

/** Empty: the model's own value. */
function Figure({ label, value, range, onChange }: FigureProps) {
  return (
    <NumberInput
      size="xs"
      label={label}
      placeholder={own}
      value={value ?? ""}
      {...range}
      clampBehavior="blur"
      onChange={(given) => onChange(typeof given === "number" ? given : undefined)}
    />
  );
}
