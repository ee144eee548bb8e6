import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loading.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useApi, useChange } from "../../../queries.ts";
import {
  emptyDraft,
  type ProviderDraft,
  ProviderFields,
  providerFieldNames,
  readMoreOptions,
} from "./provider-fields.tsx";
import type { Vendor } from "./words.ts";

interface AddDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: (name: string) => void;
}

export function AddDialog({ isOpen, onClose, onAdded }: AddDialogProps) {
  const vendors = useApi("GET /api/vendors", {}, { enabled: isOpen });
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add provider" size="lg">
      <ErrorNotice problem={vendors.error} onRetry={vendors.refetch} />
      {vendors.isPending && <Loading lines={5} />}
      {vendors.data !== undefined && (
        <AddForm vendors={vendors.data} onClose={onClose} onAdded={onAdded} />
      )}
    </Modal>
  );
}

const ownServer = "";
/** Also its kind, and no vendor's id. */
const sdkPackage = "ai-sdk";

interface AddFormProps extends Pick<AddDialogProps, "onClose" | "onAdded"> {
  readonly vendors: readonly Vendor[];
}

interface NewDraft extends ProviderDraft {
  readonly choice: string;
  /** Undefined: the vendor's own id. */
  readonly name?: string;
}

const usualName = (choice: string) => (choice === sdkPackage ? "" : choice);

function toBody({ choice, name, baseUrl, key, isPrivate, ...draft }: NewDraft) {
  const texts = Object.entries({ ...draft.options, ...readMoreOptions(draft.moreOptions) });
  const options = Object.fromEntries(
    texts.flatMap(([option, value]) =>
      value === null || value.trim() === "" ? [] : [[option, value.trim()] as const],
    ),
  );
  return {
    name: (name ?? usualName(choice)).trim(),
    ...(choice === ownServer ? {} : choice === sdkPackage ? { kind: choice } : { vendor: choice }),
    ...(baseUrl.trim() === "" ? {} : { base_url: baseUrl.trim() }),
    ...(key === null || key.trim() === "" ? {} : { api_key: key.trim() }),
    ...(isPrivate ? { allow_private: true } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** Inside the dialog, so that it starts empty each time. */
function AddForm({ vendors, onClose, onAdded }: AddFormProps) {
  const [draft, setDraft] = useState<NewDraft>({
    ...emptyDraft,
    choice: vendors[0]?.id ?? ownServer,
  });
  const add = useChange("POST /api/providers", {
    onDone: ({ name, warnings }) => {
      say(warnings[0] ?? `Added ${name}.`, warnings.length > 0 ? "bad" : "good");
      onAdded(name);
    },
  });
  const { choice } = draft;
  const vendor = vendors.find(({ id }) => id === choice);
  const kind = vendor?.kind ?? (choice === sdkPackage ? sdkPackage : "openai");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ body: toBody(draft) });
      }}
    >
      <Stack gap="md">
        <NativeSelect
          label="Vendor"
          data-autofocus
          value={choice}
          onChange={(event) => {
            setDraft({ ...emptyDraft, choice: event.currentTarget.value });
            add.reset();
          }}
          error={fieldError(add.error, "vendor")}
          data={[
            ...vendors.map(({ id, title, on_this_machine: isLocal }) => ({
              value: id,
              label: isLocal ? `${title} (on this machine)` : title,
            })),
            { value: ownServer, label: "Other OpenAI-compatible server" },
            { value: sdkPackage, label: "Other AI SDK package" },
          ]}
        />
        <TextInput
          label="Name"
          description="Your name for it. Callers never see it."
          required
          maxLength={63}
          value={draft.name ?? usualName(choice)}
          onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          error={fieldError(add.error, "name")}
        />
        <ProviderFields
          kind={kind}
          draft={draft}
          onEdit={(change) => setDraft({ ...draft, ...change })}
          problem={add.error}
          address={addressProps(choice, vendor)}
          keyAbout={keyAdvice(vendor)}
          isAlwaysPrivate={vendor?.on_this_machine === true}
        />
        <FormProblem problem={add.error} fields={["name", "vendor", ...providerFieldNames(kind)]} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add provider
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function addressProps(choice: string, vendor: Vendor | undefined) {
  const usual = vendor?.base_url ?? undefined;
  if (choice === ownServer)
    return {
      description: "The server's base URL. It usually ends in /v1.",
      placeholder: "https://host/v1",
      required: true,
    };
  if (usual === undefined)
    return { description: "Leave empty for the default.", placeholder: "", required: false };
  const isForm = usual.includes("{");
  return {
    description: isForm ? `In the form ${usual}` : "Leave empty for the default.",
    placeholder: usual,
    required: isForm,
  };
}

function keyAdvice(vendor: Vendor | undefined): string {
  const set = vendor?.variables.find(({ is_set }) => is_set);
  if (set !== undefined) return `Leave empty to use ${set.name} from the gateway's environment.`;
  const usual = vendor?.variables[0]?.name ?? "NAME";
  return `The key, stored encrypted, or \${${usual}} to read it from the gateway's environment.`;
}
