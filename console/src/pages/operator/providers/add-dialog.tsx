import { NativeSelect, TextInput } from "@mantine/core";
import { Loaded } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { DialogBody } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useApi } from "../../../queries.ts";
import {
  emptyDraft,
  type ProviderDraft,
  ProviderFields,
  providerFieldNames,
} from "./provider-fields.tsx";
import { SaveAnyway } from "./save-anyway.tsx";
import type { Vendor } from "./words.ts";

type OnAdded = (name: string) => void;

export function AddProvider({ onAdded }: { readonly onAdded: OnAdded }) {
  const vendors = useApi("GET /api/vendors");
  if (vendors.data !== undefined) return <AddForm vendors={vendors.data} onAdded={onAdded} />;
  return (
    <DialogBody title="Add provider">
      <Loaded from={vendors} lines={5}>
        {() => null}
      </Loaded>
    </DialogBody>
  );
}

const ownServer = "";

interface NewDraft extends ProviderDraft {
  readonly choice: string;
  /** Undefined: the vendor's own id. */
  readonly name?: string | undefined;
  readonly savesAnyway?: boolean;
}

function toBody({ choice, name, baseUrl, key, isPrivate, savesAnyway, ...draft }: NewDraft) {
  const texts = Object.entries(draft.options);
  const options = Object.fromEntries(
    texts.flatMap(([option, value]) =>
      value === null || value.trim() === "" ? [] : [[option, value.trim()] as const],
    ),
  );
  return {
    name: (name ?? choice).trim(),
    ...(choice === ownServer ? {} : { vendor: choice }),
    ...(baseUrl.trim() === "" ? {} : { base_url: baseUrl.trim() }),
    ...(key === null || key.trim() === "" ? {} : { api_key: key.trim() }),
    ...(isPrivate ? { allow_private: true } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(savesAnyway === true ? { save_anyway: true } : {}),
  };
}

interface AddFormProps {
  readonly vendors: readonly Vendor[];
  readonly onAdded: OnAdded;
}

function AddForm({ vendors, onAdded }: AddFormProps) {
  const kindOf = ({ choice }: NewDraft) =>
    vendors.find(({ id }) => id === choice)?.kind ?? "openai";
  const form = useForm({
    route: "POST /api/providers",
    values: (): NewDraft => ({ ...emptyDraft, choice: vendors[0]?.id ?? ownServer }),
    fields: (draft) => ["name", "vendor", ...providerFieldNames(kindOf(draft))],
    toInput: (draft) => ({ body: toBody(draft) }),
    onDone: ({ name, warnings }) => {
      say(warnings[0] ?? `Added ${name}.`, warnings.length > 0 ? "bad" : "good");
      onAdded(name);
    },
  });
  const { values: draft, edit } = form;
  const { choice } = draft;
  const vendor = vendors.find(({ id }) => id === choice);
  return (
    <FormDialog
      title="Add provider"
      form={form}
      submit="Add provider"
      more={
        <SaveAnyway
          problem={form.problem}
          isPending={form.isPending}
          onSave={() => form.submit({ savesAnyway: true })}
        />
      }
    >
      <NativeSelect
        label="Vendor"
        data-autofocus
        value={choice}
        onChange={(event) => {
          edit({ ...emptyDraft, name: undefined, choice: event.currentTarget.value });
          form.reset();
        }}
        error={form.error("vendor")}
        data={[
          ...vendors.map(({ id, title, on_this_machine: isLocal }) => ({
            value: id,
            label: isLocal ? `${title} (on this machine)` : title,
          })),
          { value: ownServer, label: "Other OpenAI-compatible server" },
        ]}
      />
      <TextInput
        label="Name"
        description="Your name for it. Callers never see it."
        required
        maxLength={63}
        value={draft.name ?? choice}
        onChange={(event) => edit({ name: event.currentTarget.value })}
        error={form.error("name")}
      />
      <ProviderFields
        kind={kindOf(draft)}
        draft={draft}
        onEdit={edit}
        problem={form.problem}
        address={addressProps(choice, vendor)}
        keyAbout={keyAdvice(vendor)}
        isAlwaysPrivate={vendor?.on_this_machine === true}
      />
    </FormDialog>
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
    description: isForm ? `Format: ${usual}` : "Leave empty for the default.",
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
