import { Group, NativeSelect, TextInput } from "@mantine/core";
import type { Scope } from "../../../../src/people/role.ts";
import { FormDialog } from "../../components/form/form-dialog.tsx";
import { useForm } from "../../components/form/use-form.ts";
import { type Role, useAccountId } from "../../session.tsx";
import { VerifiedForm } from "../me/factors/verified.tsx";
import { CreatedToken } from "./created-token.tsx";
import { ScopeGrid } from "./scope-grid.tsx";

const roles: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "viewer", label: "Viewer: read-only" },
  { value: "developer", label: "Developer: read, and manage keys" },
  { value: "owner", label: "Owner: full access" },
];
const lifetimes = [
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
  { value: "", label: "Never" },
];
const dayMs = 86_400_000;
const emptyToken = {
  name: "",
  role: "viewer" as Role,
  scopes: [] as readonly Scope[],
  days: "90",
};

export function CreateToken() {
  const account = useAccountId();
  const shared = {
    values: emptyToken,
    check: ({ name, scopes }: typeof emptyToken) => ({
      ...(name.trim() === "" && { name: "Enter a name." }),
      ...(scopes.length === 0 && { scopes: "Choose at least one scope." }),
    }),
    fields: () => ["name", "role", "scopes", "expires"],
    onDone: () => "stay" as const,
  };
  const toBody = ({ name, scopes, days }: typeof emptyToken) => ({
    name: name.trim(),
    scopes: [...scopes],
    ...(days === "" ? {} : { expires: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
  });
  const ofOperator = useForm({
    ...shared,
    route: "POST /api/tokens",
    toInput: (values) => ({ body: toBody(values) }),
  });
  const ofAccount = useForm({
    ...shared,
    route: "POST /api/accounts/:account/tokens",
    toInput: (values) => ({
      params: { account: account ?? "" },
      body: { ...toBody(values), role: values.role },
    }),
  });
  const form = account === undefined ? ofOperator : ofAccount;
  const { scopes } = form.values;
  if (form.reply !== undefined) return <CreatedToken token={form.reply} />;
  return (
    <VerifiedForm form={form}>
      <FormDialog title="Create token" form={form} submit="Create token">
        <TextInput
          label="Name"
          description="The script or service that will use this token."
          withAsterisk
          maxLength={100}
          placeholder="nightly report"
          data-autofocus
          {...form.text("name")}
        />
        <ScopeGrid
          kind={account === undefined ? "operator" : "account"}
          value={scopes}
          onChange={(chosen) => form.edit({ scopes: chosen })}
          onPreset={({ scopes: chosen, role }) =>
            form.edit({ scopes: chosen, ...(role === undefined ? {} : { role }) })
          }
          error={form.error("scopes")}
        />
        <Group grow align="flex-start">
          {account !== undefined && (
            <NativeSelect
              label="Role"
              description="Caps what the token can do."
              data={[...roles]}
              {...form.text("role")}
            />
          )}
          <NativeSelect
            label="Expires"
            description="Expired tokens are rejected."
            data={lifetimes}
            {...form.text("days")}
            error={form.error("expires")}
          />
        </Group>
      </FormDialog>
    </VerifiedForm>
  );
}
