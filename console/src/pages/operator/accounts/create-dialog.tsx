import { Button, Checkbox, Fieldset, Group, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { ApiProblem, type Reply } from "../../../api.ts";
import { DialogBody, useDialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { LinkRecipient } from "../../../components/form/link-recipient.tsx";
import { LinkNews } from "../../../components/form/shown-link.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useSession } from "../../../session.tsx";
import { VerifiedForm } from "../../me/factors/verified.tsx";
import { LimitFields } from "../account/limit-fields.tsx";
import { noLimits, toLimitFields } from "../account/limits.ts";
import classes from "./page.module.css";

export function CreateAccount() {
  const { sends_mail: mail } = useSession();
  const form = useForm({
    route: "POST /api/accounts",
    values: { name: "", credit_usd: "", isInvited: true, email: "", mail, ...noLimits },
    readProblem: atName,
    toInput: ({ name, credit_usd: credit, isInvited, email, mail: isMailed, ...limits }) => ({
      body: {
        name: name.trim(),
        ...toLimitFields(limits),
        ...(credit.trim() !== "" && { credit_usd: credit.trim() }),
        ...(isInvited && { invite_owner: true }),
        ...(isInvited && email.trim() !== "" && { email: email.trim(), mail: isMailed }),
      },
    }),
    onDone: () => "stay",
  });
  if (form.reply !== undefined) return <Created account={form.reply} />;
  const { isInvited } = form.values;
  return (
    <VerifiedForm form={form}>
      <FormDialog title="Create account" form={form} submit="Create account" gap="lg">
        <div className={classes.pair}>
          <TextInput
            label="Name"
            description="A company, team or project."
            required
            maxLength={100}
            data-autofocus
            {...form.text("name")}
          />
          <TextInput
            label="Initial credit in USD"
            description="Without credit, calls are rejected."
            inputMode="decimal"
            placeholder="25.00"
            {...form.text("credit_usd")}
          />
        </div>
        <Stack gap="xs">
          <Checkbox
            label="Create an invitation link for the owner"
            description="The owner can create keys and invite members."
            checked={isInvited}
            onChange={(event) => form.edit({ isInvited: event.currentTarget.checked })}
          />
          {isInvited && <LinkRecipient form={form} label="Owner's email (optional)" />}
        </Stack>
        <Fieldset legend="Limits (optional)">
          <LimitFields value={form.values} onChange={form.edit} problem={form.problem} />
        </Fieldset>
      </FormDialog>
    </VerifiedForm>
  );
}

/** What is in conflict is the name: it is taken. */
function atName(problem: ApiProblem | null): ApiProblem | null {
  if (problem?.status !== 409) return problem;
  const { status, code, message } = problem;
  return new ApiProblem({ status, code, message, field: "name" });
}

function Created({ account }: { readonly account: Reply<"POST /api/accounts"> }) {
  const dialog = useDialog();
  const navigate = useNavigate();
  const link = account.owner_link;
  return (
    <DialogBody title="Create account">
      <Stack>
        <p>
          <strong>{account.name}</strong>{" "}
          {Number(account.balance_usd) > 0
            ? "is ready."
            : "is ready but has no credit. Add credit before its first call."}
        </p>
        {link !== null && <LinkNews made={link} what="the owner's link" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={dialog?.close}>
            Done
          </Button>
          <Button
            onClick={() =>
              void navigate({ to: "/operator/accounts/$id", params: { id: account.id } })
            }
          >
            {" "}
            Open account{" "}
          </Button>
        </Group>
      </Stack>
    </DialogBody>
  );
}
