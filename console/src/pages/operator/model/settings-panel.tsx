import { Button, Fieldset, NumberInput, SimpleGrid, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Facts } from "../../../components/layout/facts.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatCount } from "../../../format/figures.ts";
import { KindFields, type ModelKind } from "../catalog/kind-fields.tsx";
import { FileNote, isInFile, lockProps } from "../catalog/source.tsx";

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
    about: "The limit for one reply.",
    endpoints: ["chat"],
  },
  {
    name: "max_image_tokens",
    label: "Max tokens per image",
    about: "Used for the maximum cost of a call.",
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
  const count = (value: number | null) => (value === null ? "Default" : formatCount(value));
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
      <Facts
        of={{
          Endpoint: entry.endpoint === "embeddings" ? `${entry.input} embeddings` : entry.endpoint,
          Aliases: entry.aliases.length === 0 ? "None" : entry.aliases.join(", "),
          "Owned by": entry.owned_by,
          ...Object.fromEntries(
            limitsOf(entry).map(({ name, label }) => [label, count(entry[name])]),
          ),
          Timeouts:
            set.length === 0
              ? "Default"
              : set.map(({ name, label }) => `${label} ${entry.timeouts[name]} s`).join(", "),
        }}
      />
      <Dialog of={isOpen} onClose={() => setOpen(false)} size="lg">
        {() => <SettingsForm entry={entry} />}
      </Dialog>
    </Panel>
  );
}

type LimitName = (typeof limits)[number]["name"];
type TimeoutName = (typeof timeouts)[number]["name"];
/** Null: the default. */
type Numbers<Name extends string> = Readonly<Record<Name, number | null>>;

interface Draft extends ModelKind, Numbers<LimitName> {
  readonly owned_by: string;
  /** As typed, separated by commas. */
  readonly aliases: string;
  readonly timeouts: Numbers<TimeoutName>;
}

const readAliases = (text: string) => text.split(/[\s,]+/).filter((alias) => alias !== "");

function toDraft(entry: Entry): Draft {
  const { endpoint, input, owned_by, context_length, max_output_tokens } = entry;
  const { max_image_tokens, max_audio_seconds } = entry;
  return {
    endpoint,
    input,
    owned_by,
    aliases: entry.aliases.join(", "),
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
    ...(draft.aliases === before.aliases ? {} : { aliases: readAliases(draft.aliases) }),
    ...Object.fromEntries(numbers),
    ...(changed.length === 0 ? {} : { timeouts: Object.fromEntries(changed) }),
  };
}

const fieldNames = [
  "endpoint",
  "input",
  "owned_by",
  "aliases",
  ...limits.map(({ name }) => name),
  ...timeouts.map(({ name }) => `timeouts.${name}`),
];

function SettingsForm({ entry }: { readonly entry: Entry }) {
  const [before] = useState(() => toDraft(entry));
  const form = useForm({
    route: "PATCH /api/catalog/:model",
    values: before,
    fields: () => fieldNames,
    toInput: (draft) => ({ params: { model: entry.id }, body: toChanges(before, draft) }),
    onDone: () => say(`Saved ${entry.id}.`),
  });
  const { values: draft, edit } = form;
  const isLocked = (field: string) => isInFile(entry, field);
  return (
    <FormDialog title={`Edit ${entry.id}`} form={form} submit="Save changes">
      <FileNote source={entry.source} isPartial />
      <KindFields kind={draft} onEdit={edit} problem={form.problem} isLocked={isLocked} />
      <TextInput
        label="Aliases"
        description="Other IDs that callers can use, separated by commas."
        {...lockProps(isLocked("aliases"))}
        {...form.text("aliases")}
      />
      <TextInput
        label="Owned by"
        description="Shown in the model list."
        required
        maxLength={100}
        {...lockProps(isLocked("owned_by"))}
        {...form.text("owned_by")}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        {limitsOf(draft).map(({ name, label, about }) => (
          <NumberInput
            key={name}
            {...countProps(draft[name], isLocked(name))}
            label={label}
            description={about}
            onChange={(value) => edit({ [name]: toCount(value) })}
            error={form.error(name)}
          />
        ))}
      </SimpleGrid>
      <Fieldset legend="Timeouts, seconds">
        <SimpleGrid cols={{ base: 2, xs: 4 }} spacing="md">
          {timeouts.map(({ name, label }) => (
            <NumberInput
              key={name}
              {...countProps(draft.timeouts[name], isLocked("timeouts"))}
              min={0.1}
              allowDecimal
              decimalScale={3}
              label={label}
              onChange={(value) =>
                edit({ timeouts: { ...draft.timeouts, [name]: toCount(value) } })
              }
              error={form.error(`timeouts.${name}`)}
            />
          ))}
        </SimpleGrid>
      </Fieldset>
    </FormDialog>
  );
}

const toCount = (given: string | number) => (typeof given === "number" ? given : null);
const countProps = (value: number | null, isLocked: boolean) => ({
  placeholder: "Default",
  min: 1,
  allowDecimal: false,
  thousandSeparator: ",",
  hideControls: true,
  ...lockProps(isLocked),
  value: value ?? "",
});
