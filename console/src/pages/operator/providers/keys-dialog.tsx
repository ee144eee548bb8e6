import { Button, Group, NumberInput, PasswordInput, Stack, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog, DialogBody } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import { useApi, useChange } from "../../../queries.ts";
import { FileNote, isInFile } from "../catalog/source.tsx";
import classes from "./page.module.css";
import { SaveAnyway } from "./save-anyway.tsx";
import { type Key, type Provider, secretWords } from "./words.ts";

/** The keys of one provider, kept up while the dialog is open. */
export function ProviderKeys({ name }: { readonly name: string }) {
  const found = useApi("GET /api/providers");
  const provider = found.data?.providers.find((one) => one.name === name);
  const [edited, setEdited] = useState<Key | "new">();
  if (provider === undefined) return null;
  const canAdd = !isInFile(provider, "api_keys");
  return (
    <DialogBody title={`Keys of ${name}`}>
      <Stack gap="md">
        <p className={classes.lead}>
          Calls are spread over the keys by weight. A key that is rejected, out of credit or rate
          limited is skipped until it recovers. The others keep serving.
        </p>
        <FileNote source={provider.source} isPartial={canAdd} />
        <DataTable
          caption={`Keys of ${name}`}
          columns={columns(provider, setEdited)}
          rows={provider.keys}
          rowKey={(key) => key.name}
          empty="No keys yet."
        />
        {canAdd && (
          <Group justify="flex-end">
            <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited("new")}>
              Add key
            </Button>
          </Group>
        )}
      </Stack>
      <Dialog of={edited} onClose={() => setEdited(undefined)}>
        {(key) =>
          key === "new" ? <NewKey provider={provider} /> : <EditKey provider={provider} of={key} />
        }
      </Dialog>
    </DialogBody>
  );
}

const isLocked = (provider: Provider, key: Key) =>
  isInFile(provider, "api_keys") || (key.name === "default" && isInFile(provider, "api_key"));

const columns = (provider: Provider, onEdit: (key: Key) => void): readonly Column<Key>[] => [
  { header: "Name", cell: ({ name }) => <strong>{name}</strong> },
  { header: "State", cell: (key) => <KeyState of={key} /> },
  { header: "Weight", isFigure: true, cell: ({ weight }) => weight },
  {
    header: "Key",
    cell: ({ secret }) => (secret.hint === null ? secretWords(secret) : `…${secret.hint}`),
  },
  actionsColumn((key) => (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <PauseKey provider={provider.name} of={key} />
      {!isLocked(provider, key) && (
        <>
          <Button
            size="xs"
            variant="default"
            onClick={() => onEdit(key)}
            aria-label={`Edit key ${key.name}`}
          >
            Edit
          </Button>
          {provider.keys.length > 1 && <RemoveKey provider={provider.name} of={key} />}
        </>
      )}
    </Group>
  )),
];

/** A key that works may still fail for some models, which is not hidden behind it. */
function KeyState({ of: { status, models, failing_models: failing } }: { readonly of: Key }) {
  return (
    <span className={classes.state}>
      <ServingBadge state={status} />
      {failing > 0 && status !== "failing" && (
        <small className={classes.unlisted}>
          {failing} of {models} models failing
        </small>
      )}
    </span>
  );
}

interface KeyProps {
  readonly provider: string;
  readonly of: Key;
}

function PauseKey({ provider, of }: KeyProps) {
  const verb = of.paused ? "Resume" : "Pause";
  const change = useChange("PATCH /api/providers/:name/keys/:key", {
    onDone: () => say(`${verb}d key ${of.name}.`),
  });
  return (
    <Button
      size="xs"
      variant="default"
      loading={change.isPending}
      onClick={() =>
        change.mutate({ params: { name: provider, key: of.name }, body: { paused: !of.paused } })
      }
      aria-label={`${verb} key ${of.name}`}
    >
      {verb}
    </Button>
  );
}

function RemoveKey({ provider, of }: KeyProps) {
  return (
    <ConfirmButton
      size="xs"
      question={`Remove the key “${of.name}”?`}
      consequence={<p>The other keys serve its share of the calls.</p>}
      verb="Remove"
      aria-label={`Remove key ${of.name}`}
      route="DELETE /api/providers/:name/keys/:key"
      input={{ params: { name: provider, key: of.name } }}
      onDone={() => say(`Removed key ${of.name}.`)}
    >
      Remove
    </ConfirmButton>
  );
}

interface KeyDraft {
  readonly name: string;
  readonly api_key: string;
  readonly weight: number | string;
  readonly savesAnyway: boolean;
}

const weightOf = ({ weight }: KeyDraft) => (typeof weight === "number" ? weight : 1);

function NewKey({ provider }: { readonly provider: Provider }) {
  const { name } = provider;
  const form = useForm({
    route: "POST /api/providers/:name/keys",
    values: { name: "", api_key: "", weight: 1, savesAnyway: false } as KeyDraft,
    toInput: (draft) => ({
      params: { name },
      body: {
        name: draft.name.trim(),
        api_key: draft.api_key.trim(),
        weight: weightOf(draft),
        ...(draft.savesAnyway ? { save_anyway: true } : {}),
      },
    }),
    onDone: (_, draft) => say(`Added key ${draft.name.trim()}.`),
  });
  return (
    <FormDialog
      title={`Add a key to ${name}`}
      form={form}
      submit="Add key"
      more={<Anyway form={form} />}
    >
      <KeyFields
        form={form}
        keyAbout="The key, stored encrypted, or ${NAME} for a variable."
        isNew
      />
    </FormDialog>
  );
}

function EditKey({ provider, of }: { readonly provider: Provider; readonly of: Key }) {
  const { name } = provider;
  const form = useForm({
    route: "PATCH /api/providers/:name/keys/:key",
    values: { name: of.name, api_key: "", weight: of.weight, savesAnyway: false } as KeyDraft,
    toInput: (draft) => ({
      params: { name, key: of.name },
      body: {
        ...(draft.name.trim() === of.name ? {} : { name: draft.name.trim() }),
        ...(draft.api_key.trim() === "" ? {} : { api_key: draft.api_key.trim() }),
        ...(weightOf(draft) === of.weight ? {} : { weight: weightOf(draft) }),
        ...(draft.savesAnyway ? { save_anyway: true } : {}),
      },
    }),
    onDone: () => say(`Saved key ${of.name}.`),
  });
  return (
    <FormDialog
      title={`Edit key ${of.name}`}
      form={form}
      submit="Save changes"
      more={<Anyway form={form} />}
    >
      <KeyFields
        form={form}
        keyAbout="Leave empty to keep the key. A new key is tested before it is saved."
        isNew={false}
      />
    </FormDialog>
  );
}

type KeyForm = Pick<
  ReturnType<typeof useForm<"POST /api/providers/:name/keys", KeyDraft>>,
  "values" | "edit" | "error" | "problem" | "isPending" | "submit" | "text"
>;

function Anyway({ form }: { readonly form: KeyForm }) {
  return (
    <SaveAnyway
      problem={form.problem}
      isPending={form.isPending}
      onSave={() => form.submit({ savesAnyway: true })}
    />
  );
}

interface KeyFieldsProps {
  readonly form: KeyForm;
  readonly keyAbout: string;
  readonly isNew: boolean;
}

function KeyFields({ form, keyAbout, isNew }: KeyFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="Shown in receipts and metrics."
        required
        maxLength={63}
        data-autofocus
        {...form.text("name")}
      />
      <PasswordInput
        label="API key"
        description={keyAbout}
        required={isNew}
        autoComplete="off"
        {...form.text("api_key")}
      />
      <NumberInput
        label="Weight"
        description="Share of the calls, compared with the other keys. 0: only if no other key can serve."
        min={0}
        max={1_000_000}
        allowDecimal={false}
        value={form.values.weight}
        onChange={(weight) => form.edit({ weight })}
        error={form.error("weight")}
      />
    </>
  );
}
