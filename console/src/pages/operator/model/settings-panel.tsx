import {
  Button,
  Fieldset,
  Group,
  Modal,
  NumberInput,
  SimpleGrid,
  Stack,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import type { ApiProblem, Reply } from "../../../api.ts";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatCount } from "../../../format/figures.ts";
import { useChange } from "../../../queries.ts";
import { KindFields, type ModelKind } from "../catalog/kind-fields.tsx";
import { FileNote, isInFile, lockProps } from "../catalog/source.tsx";
import classes from "./page.module.css";

type Entry = Reply<"GET /api/catalog/:model">;

const limits = [
  {
    name: "context_length",
    label: "Context length, tokens",
    about: "Shown in the model list.",
    endpoints: ["chat", "embeddings", "speech"],
  },
  {
    name: "max_output_tokens",
    label: "Max output tokens",
    about: "The limit for one answer.",
    endpoints: ["chat"],
  },
  {
    name: "max_image_tokens",
    label: "Max tokens per image",
    about: "For the worst-case price of a call.",
    endpoints: ["chat"],
  },
  {
    name: "max_audio_seconds",
    label: "Max audio, seconds",
    about: "Longer speech is cut off.",
    endpoints: ["speech"],
  },
] as const;

const timeouts = [
  { name: "connect", label: "Connect" },
  { name: "first_byte", label: "First byte" },
  { name: "idle", label: "Idle" },
  { name: "total", label: "Total" },
] as const;

const limitsOf = ({ endpoint }: ModelKind) =>
  limits.filter(({ endpoints }) => endpoints.some((one) => one === endpoint));

/** What a model is, beside its routes and its price. */
export function SettingsPanel({ entry }: { readonly entry: Entry }) {
  const [isOpen, setOpen] = useState(false);
  const count = (value: number | null) => (value === null ? "default" : formatCount(value));
  const set = timeouts.filter(({ name }) => entry.timeouts[name] !== null);
  return (
    <Panel
      title="Settings"
      actions={
        <Button size="xs" variant="default" onClick={() => setOpen(true)}>
          Edit settings
        </Button>
      }
    >
      <dl className={classes.facts}>
        <dt>Endpoint</dt>
        <dd>{entry.endpoint === "embeddings" ? `embeddings of ${entry.input}` : entry.endpoint}</dd>
        <dt>Owned by</dt>
        <dd>{entry.owned_by}</dd>
        {limitsOf(entry).map(({ name, label }) => (
          <Fact key={name} label={label} value={count(entry[name])} />
        ))}
        <Fact
          label="Timeouts"
          value={
            set.length === 0
              ? "default"
              : set.map(({ name, label }) => `${label} ${entry.timeouts[name]} s`).join(", ")
          }
        />
      </dl>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Edit ${entry.id}`} size="lg">
        <SettingsForm entry={entry} onClose={() => setOpen(false)} />
      </Modal>
    </Panel>
  );
}

function Fact({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </>
  );
}

type LimitName = (typeof limits)[number]["name"];
type TimeoutName = (typeof timeouts)[number]["name"];
/** Null: the default. */
type Numbers<Name extends string> = Readonly<Record<Name, number | null>>;

interface Draft extends ModelKind, Numbers<LimitName> {
  readonly owned_by: string;
  readonly timeouts: Numbers<TimeoutName>;
}

function toDraft(entry: Entry): Draft {
  const { endpoint, input, owned_by, context_length, max_output_tokens } = entry;
  const { max_image_tokens, max_audio_seconds } = entry;
  return {
    endpoint,
    input,
    owned_by,
    context_length,
    max_output_tokens,
    max_image_tokens,
    max_audio_seconds,
    timeouts: entry.timeouts,
  };
}

/** Only what was changed. A limit of another endpoint is removed with it. */
function toChanges(before: Draft, draft: Draft) {
  const { endpoint, input } = draft;
  const kept = limitsOf(draft).map(({ name }) => name as string);
  const numbers = limits
    .map(({ name }) => [name, kept.includes(name) ? draft[name] : null] as const)
    .filter(([name, value]) => value !== before[name]);
  const changed = timeouts
    .filter(({ name }) => draft.timeouts[name] !== before.timeouts[name])
    .map(({ name }) => [name, draft.timeouts[name]] as const);
  return {
    ...(endpoint === before.endpoint ? {} : { endpoint }),
    ...(endpoint === "embeddings" && (input !== before.input || endpoint !== before.endpoint)
      ? { input }
      : {}),
    ...(draft.owned_by === before.owned_by ? {} : { owned_by: draft.owned_by.trim() }),
    ...Object.fromEntries(numbers),
    ...(changed.length === 0 ? {} : { timeouts: Object.fromEntries(changed) }),
  };
}

const fieldNames = [
  "endpoint",
  "input",
  "owned_by",
  ...limits.map(({ name }) => name),
  ...timeouts.map(({ name }) => `timeouts.${name}`),
];

/** Inside the dialog, so that it starts with the current values each time. */
function SettingsForm({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const [before] = useState(() => toDraft(entry));
  const [draft, setDraft] = useState(before);
  const save = useChange("PATCH /api/catalog/:model", {
    onDone: () => {
      say(`Saved ${entry.id}.`);
      onClose();
    },
  });
  const isLocked = (field: string) => isInFile(entry, field);
  const edit = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ params: { model: entry.id }, body: toChanges(before, draft) });
      }}
    >
      <Stack gap="md">
        <FileNote source={entry.source} isPartial />
        <KindFields kind={draft} onEdit={edit} problem={save.error} isLocked={isLocked} />
        <TextInput
          label="Owned by"
          description="Shown in the model list."
          required
          maxLength={100}
          {...lockProps(isLocked("owned_by"))}
          value={draft.owned_by}
          onChange={(event) => edit({ owned_by: event.currentTarget.value })}
          error={fieldError(save.error, "owned_by")}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          {limitsOf(draft).map(({ name, label, about }) => (
            <CountInput
              key={name}
              name={name}
              label={label}
              about={about}
              value={draft[name]}
              onChange={(value) => edit({ [name]: value })}
              problem={save.error}
              isLocked={isLocked(name)}
            />
          ))}
        </SimpleGrid>
        <Fieldset legend="Timeouts, seconds">
          <SimpleGrid cols={{ base: 2, xs: 4 }} spacing="md">
            {timeouts.map(({ name, label }) => (
              <CountInput
                key={name}
                name={`timeouts.${name}`}
                label={label}
                value={draft.timeouts[name]}
                onChange={(value) => edit({ timeouts: { ...draft.timeouts, [name]: value } })}
                problem={save.error}
                isLocked={isLocked("timeouts")}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
        <FormProblem problem={save.error} fields={fieldNames} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save changes
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface CountInputProps {
  readonly name: string;
  readonly label: string;
  readonly about?: string;
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly problem: ApiProblem | null;
  readonly isLocked: boolean;
}

function CountInput(props: CountInputProps) {
  const { name, label, about, value, onChange, problem, isLocked } = props;
  return (
    <NumberInput
      label={label}
      {...(about === undefined ? {} : { description: about })}
      placeholder="Default"
      min={1}
      allowDecimal={false}
      thousandSeparator=","
      hideControls
      {...lockProps(isLocked)}
      value={value ?? ""}
      onChange={(given) => onChange(typeof given === "number" ? given : null)}
      error={fieldError(problem, name)}
    />
  );
}
