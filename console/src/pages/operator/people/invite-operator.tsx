import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { LinkRecipient } from "../../../components/form/link-recipient.tsx";
import { ShownLink } from "../../../components/form/shown-link.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useSession } from "../../../session.tsx";
import { VerifiedForm } from "../../me/factors/verified.tsx";

export function InviteOperator() {
  const { sends_mail: mail } = useSession();
  const form = useForm({
    route: "POST /api/people/invites",
    values: { email: "", mail },
    toInput: ({ email, mail: isMailed }) => ({
      body: { email: email.trim(), ...(email.trim() !== "" && { mail: isMailed }) },
    }),
    onDone: () => "stay",
  });
  if (form.reply !== undefined) return <ShownLink title="Invite operator" made={form.reply} />;
  return (
    <VerifiedForm form={form}>
      <FormDialog title="Invite operator" form={form} submit="Create link">
        <p>
          Operators can view and change everything, including providers, prices, accounts and
          people. To give access to one account only, invite the person from that account.
        </p>
        <LinkRecipient form={form} isFirst />
      </FormDialog>
    </VerifiedForm>
  );
}
