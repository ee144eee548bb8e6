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
  if (form.reply !== undefined) return <ShownLink title="Invite an operator" made={form.reply} />;
  return (
    <FormDialog title="Invite an operator" form={form} submit="Make the link">
      <p>
        An operator sees and changes everything: providers, prices, all accounts and all people. To
        let somebody into one account only, invite them there.
      </p>
      <TextInput
        label="Email (optional)"
        description="Then only somebody with this address can use the link."
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.text("email")}
      />
    </FormDialog>
  );
}
