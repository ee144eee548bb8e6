import { useState } from "react";
import { providerKinds, type UsableKind } from "../../../../../src/catalog/provider-kinds.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useApi } from "../../../queries.ts";
import { FileNote, isInFile, LockableSelect } from "../catalog/source.tsx";
import {
  emptyDraft,
  type ProviderDraft,
  ProviderFields,
  providerFieldNames,
} from "./provider-fields.tsx";
import { SaveAnyway } from "./save-anyway.tsx";
import { type Provider, secretWords } from "./words.ts";

/** False where a file states all that the form has. */
export const isEditable = (provider: Provider) =>
  providerFieldNames(provider.kind).some((field) => !isInFile(provider, field));

const isHidden = (option: Provider["options"][number]) => option.secret?.from === "store";

interface EditDraft extends ProviderDraft {
  readonly kind: string;
  readonly savesAnyway?: boolean;
}

function toDraft({ kind, base_url: baseUrl, allow_private: isPrivate, options }: Provider) {
  const texts = options.map((option) => {
    const variable = option.secret?.variable;
    const text = option.value ?? (typeof variable === "string" ? `\${${variable}}` : "");
    return [option.name, text] as const;
  });
  return {
    ...emptyDraft,
    kind,
    baseUrl: baseUrl ?? "",
    isPrivate,
    options: Object.fromEntries(texts),
  };
}

/** Only what was changed; null removes. */
function toChanges(before: EditDraft, { baseUrl, key, isPrivate, ...draft }: EditDraft) {
  const changed = Object.entries(draft.options)
    .filter(([name, value]) => value !== (before.options[name] ?? ""))
    .map(([name, value]) => [name, value === null ? null : value.trim() || null] as const);
  const options = Object.fromEntries(changed);
  return {
    ...(draft.kind === before.kind ? {} : { kind: draft.kind as UsableKind }),
    ...(baseUrl === before.baseUrl ? {} : { base_url: baseUrl.trim() || null }),
    ...(key === "" ? {} : { api_key: key?.trim() ?? null }),
    ...(isPrivate === before.isPrivate ? {} : { allow_private: isPrivate }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(draft.savesAnyway === true ? { save_anyway: true } : {}),
  };
}

export function EditProvider({ provider }: { readonly provider: Provider }) {
  const { name, api_key: key } = provider;
  const vendors = useApi("GET /api/vendors");
  const vendor = vendors.data?.find(({ id }) => id === provider.vendor);
  const [before] = useState(() => toDraft(provider));
  const form = useForm({
    route: "PATCH /api/providers/:name",
    values: before as EditDraft,
    fields: ({ kind }) => ["kind", ...providerFieldNames(kind)],
    toInput: (draft) => ({ params: { name }, body: toChanges(before, draft) }),
    onDone: ({ warnings }) =>
      say(warnings[0] ?? `Saved ${name}.`, warnings.length > 0 ? "bad" : "good"),
  });
  const canSave = isEditable(provider);
  const hidden = provider.options.filter(isHidden).map(({ name: option }) => option);
  return (
    <FormDialog
      title={`${canSave ? "Edit" : "View"} ${name}`}
      form={form}
      submit={canSave ? "Save changes" : undefined}
      cancel={canSave ? "Cancel" : "Close"}
      more={
        <SaveAnyway
          problem={form.problem}
          isPending={form.isPending}
          onSave={() => form.submit({ savesAnyway: true })}
        />
      }
    >
      <FileNote source={provider.source} isPartial={canSave} />
      <LockableSelect
        label="Kind"
        description="The provider's API format."
        value={form.values.kind}
        data={[...new Set([...providerKinds, before.kind])].map((value) => ({
          value,
          label: value,
        }))}
        onChange={(kind) => form.edit({ kind })}
        error={fieldError(form.problem, "kind")}
        isLocked={isInFile(provider, "kind") || provider.source.kind === "file"}
      />
      <ProviderFields
        kind={form.values.kind}
        draft={form.values}
        onEdit={form.edit}
        problem={form.problem}
        address={addressProps(provider, vendor?.base_url ?? null)}
        keyAbout={keyAbout(provider)}
        stored={[...(key === null ? [] : ["api_key"]), ...hidden]}
        isLocked={(field) => isInFile(provider, field)}
      />
    </FormDialog>
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
  const words = key === null ? "not set" : secretWords(key);
  const now = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
  if (isInFile(provider, "api_key")) return now;
  return `${now} Enter a ${key === null ? "" : "new "}key, or \${NAME} to read it from the gateway's environment. It is tested before it is saved.`;
}
