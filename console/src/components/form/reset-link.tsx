import type { Reply } from "../../api.ts";
import { FormDialog } from "./form-dialog.tsx";
import { MailChoice } from "./mail-choice.tsx";
import { ShownLink } from "./shown-link.tsx";
import type { Form } from "./use-form.ts";

interface ResetLinkProps {
  readonly form: Form<{ readonly mail: boolean }, Reply<"POST /api/people/:id/reset">>;
  readonly name: string;
  readonly email: string;
}

/** In a dialog: a password reset link for another person, mailed or shown. */
export function ResetLink({ form, name, email }: ResetLinkProps) {
  if (form.reply !== undefined)
    return <ShownLink title={`Reset password of ${name}`} made={form.reply} />;
  return (
    <FormDialog
      title={`Create a password reset link for ${name}?`}
      form={form}
      submit={form.values.mail ? "Send link" : "Create link"}
      isDangerous
    >
      <p>
        Anyone with the link can set a new password, which signs this person out everywhere. The old
        password works until then. Send the link only to them.
      </p>
      <MailChoice isOn={form.values.mail} onChange={(mail) => form.edit({ mail })} email={email} />
    </FormDialog>
  );
}
