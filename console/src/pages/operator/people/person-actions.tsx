import { Button } from "@mantine/core";
import { useState } from "react";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { ResetLink } from "../../../components/form/reset-link.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useSession, useUser } from "../../../session.tsx";
import { VerifiedForm } from "../../me/factors/verified.tsx";
import { VerifiedButton } from "../../me/factors/verified-button.tsx";
import { GiveUpOperator } from "./give-up-operator.tsx";
import classes from "./page.module.css";
import { nameOf, type Person } from "./person.ts";

interface PersonActionsProps {
  readonly person: Person;
  readonly isOnlyOperator: boolean;
}

export function PersonActions({ person, isOnlyOperator }: PersonActionsProps) {
  const isMe = useUser().id === person.id;
  return (
    <div className={classes.buttons}>
      {!isMe && person.may_reset_password && <NewPassword person={person} />}
      {!isMe && person.has_second_factor && <ResetFactors person={person} />}
      {person.sessions > 0 && <EndSessions person={person} isMe={isMe} />}
      {person.is_operator && !isMe && <RemoveOperator person={person} />}
      {person.is_operator && isMe && <GiveUpOperator person={person} isOnly={isOnlyOperator} />}
    </div>
  );
}

function NewPassword({ person }: { readonly person: Person }) {
  const name = nameOf(person);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`Reset password of ${name}`}
        onClick={() => setOpen(true)}
      >
        {" "}
        Reset password{" "}
      </Button>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => <NewPasswordForm person={person} />}
      </Dialog>
    </>
  );
}

function NewPasswordForm({ person }: { readonly person: Person }) {
  const { sends_mail: mail } = useSession();
  const form = useForm({
    route: "POST /api/people/:id/reset",
    values: { mail },
    toInput: ({ mail: isMailed }) => ({
      params: { id: person.id },
      query: isMailed ? { mail: "yes" as const } : {},
    }),
    onDone: () => "stay",
  });
  return (
    <VerifiedForm form={form}>
      <ResetLink form={form} name={nameOf(person)} email={person.email} />
    </VerifiedForm>
  );
}

function ResetFactors({ person }: { readonly person: Person }) {
  const name = nameOf(person);
  return (
    <VerifiedButton
      aria-label={`Reset factors of ${name}`}
      question={`Remove all second factors of ${name}?`}
      consequence={`Do this only if ${name} has lost them and the request really comes from them. Their password alone will sign in, and they are signed out everywhere.`}
      verb="Remove factors"
      route="DELETE /api/people/:id/factors"
      input={{ params: { id: person.id } }}
      onDone={() => say(`Removed the second factors of ${name}.`)}
    >
      Reset factors
    </VerifiedButton>
  );
}

interface OwnProps {
  readonly person: Person;
  readonly isMe: boolean;
}

function EndSessions({ person, isMe }: OwnProps) {
  const name = nameOf(person);
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={isMe ? "Sign out everywhere" : `Sign out ${name} everywhere`}
      question={isMe ? "Sign yourself out everywhere?" : `Sign ${name} out everywhere?`}
      consequence={
        isMe
          ? "You will have to sign in again in every browser, including this one."
          : `${name} will have to sign in again in every browser. Keys and tokens keep working.`
      }
      verb="Sign out"
      route="DELETE /api/people/:id/sessions"
      input={{ params: { id: person.id } }}
      onDone={() => say(`Signed out ${name} everywhere.`)}
    >
      Sign out
    </ConfirmButton>
  );
}

function RemoveOperator({ person }: { readonly person: Person }) {
  const name = nameOf(person);
  return (
    <VerifiedButton
      aria-label={`Remove operator role from ${name}`}
      question={`Remove the operator role from ${name}?`}
      consequence={
        <>
          <p>
            {name} will have access only to their own accounts. Operator tokens and invitation links
            that they created stop working.
          </p>
          {person.is_operator_by_identity && (
            <p>
              Their next sign-in gives the role back, because it comes from a group at the identity
              provider. Remove them from that group, too.
            </p>
          )}
        </>
      }
      verb="Remove role"
      route="DELETE /api/people/:id/operator"
      input={{ params: { id: person.id } }}
      onDone={() => say(`${name} is no longer an operator.`)}
    >
      Remove operator role
    </VerifiedButton>
  );
}
