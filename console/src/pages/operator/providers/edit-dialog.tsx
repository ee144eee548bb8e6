import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import { FormProblem } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useApi, useChange } from "../../../queries.ts";
import { FileNote, isInFile } from "../catalog/source.tsx";
import {
  emptyDraft,
  type ProviderDraft,
  ProviderFields,
  providerFieldNames,
  readMoreOptions,
} from "./provider-fields.tsx";
import type { Provider } from "./words.ts";

/** False where a file states all that the form has. */
export const isEditable = (provider: Provider) =>
  providerFieldNames(provider.kind).some((field) => !isInFile(provider, field));

interface EditDialogProps {
  readonly provider: Provider;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function EditDialog({ provider, isOpen, onClose }: EditDialogProps) {
  const verb = isEditable(provider) ? "Edit" : "View";
  return (
    <Modal opened={isOpen} onClose={onClose} title={`${verb} ${provider.name}`} size="lg">
      <EditForm provider={provider} onClose={onClose} />
    </Modal>
  );
}

/** The options of a package are named without their prefix, as the API takes them. */
const ownName = (name: string) => name.replace(/^options\./, "");
const isHidden = (option: Provider["options"][number]) => option.secret?.from === "store";

function toDraft({ base_url: baseUrl, allow_private: isPrivate, options }: Provider) {
  const texts = options.map((option) => {
    const variable = option.secret?.variable;
    const text = option.value ?? (typeof variable === "string" ? `\${${variable}}` : "");
    return [ownName(option.name), text] as const;
  });
  return {
    ...emptyDraft,
    baseUrl: baseUrl ?? "",
    isPrivate,
    options: Object.fromEntries(texts),
  };
}

/** Only what was changed; null removes. */
function toChanges(before: ProviderDraft, { baseUrl, key, isPrivate, ...draft }: ProviderDraft) {
  const changed = Object.entries(draft.options)
    .filter(([name, value]) => value !== (before.options[name] ?? ""))
    .map(([name, value]) => [name, value === null ? null : value.trim() || null] as const);
  const options = { ...Object.fromEntries(changed), ...readMoreOptions(draft.moreOptions) };
  return {
    ...(baseUrl === before.baseUrl ? {} : { base_url: baseUrl.trim() || null }),
    ...(key === "" ? {} : { api_key: key?.trim() ?? null }),
    ...(isPrivate === before.isPrivate ? {} : { allow_private: isPrivate }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** Inside the dialog, so that it starts with the current values each time. */
function EditForm({ provider, onClose }: Pick<EditDialogProps, "provider" | "onClose">) {
  const { name, kind, api_key: key } = provider;
  const vendors = useApi("GET /api/vendors");
  const vendor = vendors.data?.find(({ id }) => id === provider.vendor);
  const [before] = useState(() => toDraft(provider));
  const [draft, setDraft] = useState<ProviderDraft>(before);
  const save = useChange("PATCH /api/providers/:name", {
    onDone: ({ warnings }) => {
      say(warnings[0] ?? `Saved ${name}.`, warnings.length > 0 ? "bad" : "good");
      onClose();
    },
  });
  const canSave = isEditable(provider);
  const hidden = provider.options.filter(isHidden).map((option) => ownName(option.name));
  const usual = vendor?.base_url ?? null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ params: { name }, body: toChanges(before, draft) });
      }}
    >
      <Stack gap="md">
        <FileNote source={provider.source} isPartial={canSave} />
        <ProviderFields
          kind={kind}
          draft={draft}
          onEdit={(change) => setDraft({ ...draft, ...change })}
          problem={save.error}
          address={addressProps(provider, usual)}
          keyAbout={keyAbout(provider)}
          stored={[...(key === null ? [] : ["api_key"]), ...hidden]}
          isLocked={(field) => isInFile(provider, field)}
        />
        <FormProblem problem={save.error} fields={providerFieldNames(kind)} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {canSave ? "Cancel" : "Close"}
          </Button>
          {canSave && (
            <Button type="submit" loading={save.isPending}>
              Save changes
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function addressProps(provider: Provider, usual: string | null) {
  if (isInFile(provider, "base_url")) return {};
  if (usual !== null && !usual.includes("{"))
    return { description: `Default: ${usual}`, placeholder: usual };
  // A server of one's own has no other address.
  return provider.kind === "openai"
    ? { required: true }
    : { description: "Leave empty for the default." };
}

function keyAbout(provider: Provider): string {
  const { api_key: key } = provider;
  const now =
    key === null
      ? "Not set."
      : key.variable === null
        ? "Stored encrypted."
        : `Read from ${key.variable}.`;
  if (isInFile(provider, "api_key")) return now;
  return `${now} Enter a ${key === null ? "" : "new "}key, or \${NAME} to read it from the gateway's environment.`;
}
