import {
  Button,
  Checkbox,
  Group,
  Modal,
  NativeSelect,
  PasswordInput,
  Stack,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import type { ApiProblem, Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loading.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useApi, useChange } from "../../../queries.ts";

type Vendor = Reply<"GET /api/vendors">[number];

interface AddDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: (name: string) => void;
}

export function AddDialog({ isOpen, onClose, onAdded }: AddDialogProps) {
  const vendors = useApi("GET /api/vendors", {}, { enabled: isOpen });
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add a provider" size="lg">
      <ErrorNotice problem={vendors.error} onRetry={vendors.refetch} />
      {vendors.isPending && <Loading lines={5} />}
      {vendors.data !== undefined && (
        <AddForm vendors={vendors.data} onClose={onClose} onAdded={onAdded} />
      )}
    </Modal>
  );
}

const ownServer = "";
const fields = ["name", "vendor", "base_url", "api_key"];

interface AddFormProps extends Pick<AddDialogProps, "onClose" | "onAdded"> {
  readonly vendors: readonly Vendor[];
}

interface Draft {
  readonly vendor: string;
  /** Undefined: the vendor's own id. */
  readonly name?: string;
  readonly baseUrl: string;
  readonly key: string;
  readonly isPrivate: boolean;
  readonly options: Readonly<Record<string, string>>;
}

const emptyDraft = (vendor: string): Draft => ({
  vendor,
  baseUrl: "",
  key: "",
  isPrivate: false,
  options: {},
});

function toBody({ vendor, name, baseUrl, key, isPrivate, options }: Draft) {
  return {
    name: (name ?? vendor).trim(),
    ...(vendor === ownServer ? {} : { vendor }),
    ...(baseUrl.trim() === "" ? {} : { base_url: baseUrl.trim() }),
    ...(key.trim() === "" ? {} : { api_key: key.trim() }),
    ...(isPrivate ? { allow_private: true } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** Inside the dialog, so that it begins anew each time. */
function AddForm({ vendors, onClose, onAdded }: AddFormProps) {
  const [draft, setDraft] = useState(() => emptyDraft(vendors[0]?.id ?? ownServer));
  const add = useChange("POST /api/providers", {
    onDone: ({ name, warnings }) => {
      say(warnings[0] ?? `${name} is added.`, warnings.length > 0 ? "bad" : "good");
      onAdded(name);
    },
  });
  const problem = atName(add.error);
  const choose = (id: string) => {
    setDraft(emptyDraft(id));
    add.reset();
  };
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
          value={draft.vendor}
          onChange={(event) => choose(event.currentTarget.value)}
          error={fieldError(problem, "vendor")}
          data={[
            ...vendors.map(({ id, title, on_this_machine: isLocal }) => ({
              value: id,
              label: isLocal ? `${title} (on this machine)` : title,
            })),
            { value: ownServer, label: "Another server that speaks the chat-completions format" },
          ]}
        />
        <PlaceFields
          draft={draft}
          vendor={vendors.find(({ id }) => id === draft.vendor)}
          problem={problem}
          onEdit={(change) => setDraft({ ...draft, ...change })}
        />
        <FormProblem problem={problem} fields={fields} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add the provider
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface PlaceFieldsProps {
  readonly draft: Draft;
  /** Undefined for a server of one's own. */
  readonly vendor: Vendor | undefined;
  readonly problem: ApiProblem | null;
  readonly onEdit: (change: Partial<Draft>) => void;
}

function PlaceFields({ draft, vendor, problem, onEdit }: PlaceFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="What it is called here. Callers never see it."
        required
        maxLength={63}
        value={draft.name ?? draft.vendor}
        onChange={(event) => onEdit({ name: event.currentTarget.value })}
        error={fieldError(problem, "name")}
      />
      <TextInput
        label="Address"
        description={addressWords(vendor)}
        type="url"
        required={vendor === undefined || vendor.base_url?.includes("{") === true}
        placeholder={vendor?.base_url ?? (vendor === undefined ? "https://host/v1" : "")}
        value={draft.baseUrl}
        onChange={(event) => onEdit({ baseUrl: event.currentTarget.value })}
        error={fieldError(problem, "base_url")}
      />
      <PasswordInput
        label="Key"
        description={keyAdvice(vendor)}
        autoComplete="off"
        value={draft.key}
        onChange={(event) => onEdit({ key: event.currentTarget.value })}
        error={fieldError(problem, "api_key")}
      />
      {vendor?.options.map(({ name, about, variable, secret }) => (
        <TextInput
          key={name}
          label={name}
          description={`${about}${variable === null ? "" : `; read from ${variable} where nothing is given`}`}
          type={secret ? "password" : "text"}
          autoComplete="off"
          value={draft.options[name] ?? ""}
          onChange={(event) =>
            onEdit({ options: { ...draft.options, [name]: event.currentTarget.value } })
          }
        />
      ))}
      <Checkbox
        label="It may be on a private or loopback address"
        description="Only for servers of your own."
        checked={draft.isPrivate || vendor?.on_this_machine === true}
        disabled={vendor?.on_this_machine === true}
        onChange={(event) => onEdit({ isPrivate: event.currentTarget.checked })}
      />
    </>
  );
}

function addressWords(vendor: Vendor | undefined): string {
  if (vendor === undefined) return "Where the server is; it mostly ends in /v1.";
  if (vendor.base_url === null) return "Made of what you give below, unless you give another.";
  if (vendor.base_url.includes("{")) return `Of the form ${vendor.base_url}`;
  return `${vendor.base_url}, unless you give another.`;
}

function keyAdvice(vendor: Vendor | undefined): string {
  const set = vendor?.variables.find(({ is_set }) => is_set);
  if (set !== undefined)
    return `Leave it empty to use ${set.name}, which is set where the gateway runs.`;
  const usual = vendor?.variables[0]?.name ?? "NAME";
  return `The key itself, which is kept encrypted, or \${${usual}} for a variable of the gateway.`;
}

/** A name that is taken, or has letters it must not have, is told at the name. */
function atName(problem: ApiProblem | null): ApiProblem | null {
  const isName = problem?.status === 409 || problem?.message.includes("good name") === true;
  return problem !== null && isName ? Object.assign(problem, { field: "name" }) : problem;
}
