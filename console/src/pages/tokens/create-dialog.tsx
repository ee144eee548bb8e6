import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Scope } from "../../../../src/people/role.ts";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { useChange } from "../../queries.ts";
import { type Role, useAccountId } from "../../session.tsx";
import { CreatedToken } from "./created-token.tsx";
import { ScopeGrid } from "./scope-grid.tsx";
import type { Preset } from "./scopes.ts";

interface CreateDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function CreateDialog({ isOpen, onClose }: CreateDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Create a token" size="lg">
      <CreateForm onClose={onClose} />
    </Modal>
  );
}

const roles: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "viewer", label: "Viewer: sees" },
  { value: "developer", label: "Developer: sees, and changes keys" },
  { value: "owner", label: "Owner: sees and changes everything" },
];
const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "a year" },
  { value: "", label: "no end" },
];
const dayMs = 86_400_000;
const fields = ["name", "role", "scopes", "expires"];

/** Inside the dialog, so that it begins anew each time. */
function CreateForm({ onClose }: Pick<CreateDialogProps, "onClose">) {
  const account = useAccountId();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [days, setDays] = useState("90");
  const ofAccount = useChange("POST /api/accounts/:account/tokens");
  const ofOperator = useChange("POST /api/tokens");
  const { data, error, isPending } = account === undefined ? ofOperator : ofAccount;
  if (data !== undefined) return <CreatedToken token={data} onClose={onClose} />;
  const submit = () => {
    const shared = { name: name.trim(), scopes: [...scopes], ...expiryIn(days) };
    if (account === undefined) ofOperator.mutate({ body: shared });
    else ofAccount.mutate({ params: { account }, body: { ...shared, role } });
  };
  const takePreset = (preset: Preset) => {
    setScopes(preset.scopes);
    if (preset.role !== undefined) setRole(preset.role);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <NameField value={name} onChange={setName} error={fieldError(error, "name")} />
        <ScopeGrid
          kind={account === undefined ? "operator" : "account"}
          value={scopes}
          onChange={setScopes}
          onPreset={takePreset}
          error={fieldError(error, "scopes")}
        />
        <Group grow align="flex-start">
          {account !== undefined && (
            <NativeSelect
              label="Role"
              description="It never gets further than this."
              data={[...roles]}
              value={role}
              onChange={(event) => setRole(toRole(event.currentTarget.value))}
              error={fieldError(error, "role")}
            />
          )}
          <NativeSelect
            label="Ends after"
            description="Then it is refused."
            data={lifetimes}
            value={days}
            onChange={(event) => setDays(event.currentTarget.value)}
            error={fieldError(error, "expires")}
          />
        </Group>
        <FormProblem problem={error} fields={fields} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending} disabled={scopes.length === 0}>
            Create the token
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const toRole = (text: string): Role => roles.find(({ value }) => value === text)?.value ?? "viewer";

const expiryIn = (days: string) =>
  days === "" ? {} : { expires: new Date(Date.now() + Number(days) * dayMs).toISOString() };

interface NameFieldProps {
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly error: string | undefined;
}

function NameField({ value, onChange, error }: NameFieldProps) {
  return (
    <TextInput
      label="Name"
      description="What will use it, so that you know it later."
      required
      maxLength={100}
      placeholder="nightly report"
      data-autofocus
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  );
}
