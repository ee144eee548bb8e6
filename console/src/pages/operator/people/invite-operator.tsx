import { TextInput } from "@mantine/core";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { ShownLink } from "../../../components/form/shown-link.tsx";
import { useForm } from "../../../components/form/use-form.ts";

export function InviteOperator() {
  const form = useForm({
    route: "POST /api/people/invites",
    values: { email: "" },
    toInput: ({ email }) => ({ body: { email: email.trim() } }),
    onDone: () => "stay",
  });
  if (form.reply !== undefined) return <ShownLink title="Invite operator" made={form.reply} />;
  return (
    <FormDialog title="Invite operator" form={form} submit="Create link">
      <p>
        Operators can view and change everything, including providers, prices, accounts and people.
        To give access to one account only, invite the person from that account.
      </p>
      <TextInput
        label="Email (optional)"
        description="Only this address can use the link."
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.text("email")}
      />
    </FormDialog>
  );
}
