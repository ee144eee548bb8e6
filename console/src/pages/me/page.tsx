import { Button, Group, PasswordInput, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { browserZone } from "../../format/moments.ts";
import { useChange } from "../../queries.ts";
import { useUser } from "../../session.tsx";
import { leastPassword, passwordProblem } from "../join/password.ts";
import { FactorsPanels } from "./factors/factors-panels.tsx";
import { IdentityPanel } from "./identity-panel.tsx";
import { Sessions } from "./sessions.tsx";

export function Page() {
  const { email, has_password: hasPassword } = useUser();
  return (
    <>
      <PageHeader title="My profile" about={`You sign in as ${email}.`} />
      <Name />
      <TimeZone />
      {hasPassword && <Password />}
      <IdentityPanel />
      <FactorsPanels />
      <Sessions />
    </>
  );
}

function Name() {
  const { name } = useUser();
  const change = useChange("PATCH /api/me", { onDone: () => say("Name saved.") });
  const form = useForm({ initialValues: { name } });
  return (
    <Panel title="Name" about="Visible to the members of your accounts.">
      <form onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
        <Stack gap="sm" maw={420}>
          <FormProblem problem={change.error} fields={["name"]} />
          <TextInput
            aria-label="Name"
            autoComplete="name"
            {...form.getInputProps("name")}
            error={fieldError(change.error, "name")}
          />
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              Save name
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

function TimeZone() {
  const { time_zone: chosen } = useUser();
  const change = useChange("PATCH /api/me", { onDone: () => say("Time zone saved.") });
  const local = browserZone();
  return (
    <Panel
      title="Time zone"
      about="Used for every time, date filter and chart that you see in the console."
    >
      <FormProblem problem={change.error} fields={[]} />
      <SegmentedControl
        aria-label="Time zone"
        data={[
          { value: "local", label: `Local (${local})` },
          { value: "utc", label: "UTC" },
        ]}
        value={chosen}
        disabled={change.isPending}
        onChange={(value) =>
          change.mutate({ body: { time_zone: value === "utc" ? "utc" : "local" } })
        }
      />
    </Panel>
  );
}

function Password() {
  const { email } = useUser();
  const form = useForm({
    initialValues: { current: "", password: "", again: "" },
    validate: {
      password: passwordProblem,
      again: (again, { password }) => (again === password ? null : "Passwords do not match."),
    },
  });
  const change = useChange("POST /api/me/password", {
    onDone: () => {
      form.reset();
      say("Password changed. You are signed out everywhere else.");
    },
  });
  const submit = form.onSubmit(({ current, password }) =>
    change.mutate({ body: { current, password } }),
  );
  return (
    <Panel title="Password" about="Changing it signs you out everywhere else.">
      <form onSubmit={submit}>
        <Stack gap="sm" maw={420}>
          <FormProblem problem={change.error} fields={["password"]} />
          {/* For password managers, which need to know whose it is. */}
          <input type="hidden" autoComplete="username" value={email} readOnly />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ "aria-label": "Show password" }}
            {...form.getInputProps("current")}
          />
          <PasswordInput
            label="New password"
            description={`At least ${leastPassword} characters.`}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": "Show password" }}
            {...form.getInputProps("password")}
            error={form.errors["password"] ?? fieldError(change.error, "password")}
          />
          <PasswordInput
            label="Confirm password"
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": "Show password" }}
            {...form.getInputProps("again")}
          />
          <Group>
            <Button type="submit" variant="default" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
