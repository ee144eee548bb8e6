import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Modal,
  NativeSelect,
  NumberInput,
  Stack,
  TextInput,
} from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useApi, useChange } from "../../../queries.ts";
import classes from "./page.module.css";
import { addRoute, type Draft, toDrafts, toInputs, voiceNames } from "./route-drafts.ts";

type Entry = Reply<"GET /api/catalog/:model">;

interface RoutesDialogProps {
  readonly entry: Entry;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function RoutesDialog({ entry, isOpen, onClose }: RoutesDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={`Routes of ${entry.id}`} size="xl">
      <RoutesForm entry={entry} onClose={onClose} />
    </Modal>
  );
}

/** Inside the dialog, so that it begins with what is in force each time. */
function RoutesForm({ entry, onClose }: Pick<RoutesDialogProps, "entry" | "onClose">) {
  const found = useApi("GET /api/providers");
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => toDrafts(entry));
  const save = useChange("PUT /api/catalog/:model/routes", {
    onDone: () => {
      say(`The routes of ${entry.id} are in force.`);
      onClose();
    },
  });
  const providers = [...(found.data?.providers.map(({ name }) => name) ?? []), "engine"];
  const edit = (id: number, change: Partial<Draft>) =>
    setDrafts((old) => old.map((draft) => (draft.id === id ? { ...draft, ...change } : draft)));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ params: { model: entry.id }, body: { routes: toInputs(entry, drafts) } });
      }}
    >
      <Stack gap="md">
        {entry.endpoint === "embeddings" && drafts.length > 1 && (
          <p className={classes.warning}>
            All routes of an embeddings model must lead to the same model: vectors of different ones
            cannot be compared.
          </p>
        )}
        {drafts.map((draft, at) => (
          <RouteFields
            key={draft.id}
            draft={draft}
            label={`Route ${at + 1}`}
            providers={providers}
            isSpeech={entry.endpoint === "speech"}
            onEdit={(change) => edit(draft.id, change)}
            onRemove={() => setDrafts((old) => old.filter(({ id }) => id !== draft.id))}
          />
        ))}
        {drafts.length === 0 && (
          <p className={classes.warning}>
            Without a route the model is not served: calls to it are refused.
          </p>
        )}
        <div>
          <Button
            variant="subtle"
            leftSection={<IconPlus size={16} />}
            onClick={() => setDrafts((old) => addRoute(old, providers[0] ?? "engine"))}
          >
            Add a route
          </Button>
        </div>
        <ErrorNotice problem={save.error ?? found.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Put in force
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface RouteFieldsProps {
  readonly draft: Draft;
  readonly label: string;
  readonly providers: readonly string[];
  readonly isSpeech: boolean;
  readonly onEdit: (change: Partial<Draft>) => void;
  readonly onRemove: () => void;
}

function RouteFields({ draft, label, providers, isSpeech, onEdit, onRemove }: RouteFieldsProps) {
  const number = (value: string | number, least: number) =>
    typeof value === "number" && Number.isInteger(value) ? value : least;
  return (
    <fieldset className={classes.route}>
      <legend>{label}</legend>
      <div className={classes.fields}>
        <NativeSelect
          label="Provider"
          value={draft.provider}
          onChange={(event) => onEdit({ provider: event.currentTarget.value })}
          data={[...new Set([draft.provider, ...providers])]}
        />
        <TextInput
          label="Model there"
          required
          value={draft.model}
          onChange={(event) => onEdit({ model: event.currentTarget.value })}
        />
        <NumberInput
          label="Priority"
          min={1}
          max={100}
          allowDecimal={false}
          value={draft.priority}
          onChange={(value) => onEdit({ priority: number(value, 1) })}
        />
        <NumberInput
          label="Weight"
          min={0}
          max={1_000_000}
          allowDecimal={false}
          value={draft.weight}
          onChange={(value) => onEdit({ weight: number(value, 0) })}
        />
        <ActionIcon size={36} onClick={onRemove} aria-label={`Remove ${label.toLowerCase()}`}>
          <IconTrash size={16} />
        </ActionIcon>
      </div>
      {isSpeech && <VoiceFields draft={draft} onEdit={onEdit} />}
    </fieldset>
  );
}

function VoiceFields({ draft, onEdit }: Pick<RouteFieldsProps, "draft" | "onEdit">) {
  return (
    <>
      <Checkbox
        mt="sm"
        label="Its voices have the same names as ours"
        checked={draft.hasSameVoices}
        onChange={(event) => onEdit({ hasSameVoices: event.currentTarget.checked })}
      />
      {!draft.hasSameVoices && (
        <div className={classes.voices}>
          {voiceNames.map((voice) => (
            <TextInput
              key={voice}
              label={`${voice} is called`}
              required
              value={draft.voices[voice]}
              onChange={(event) =>
                onEdit({ voices: { ...draft.voices, [voice]: event.currentTarget.value } })
              }
            />
          ))}
        </div>
      )}
    </>
  );
}
