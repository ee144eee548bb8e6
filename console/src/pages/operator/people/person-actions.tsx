import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { ResetLink } from "../../../components/form/reset-link.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useSession, useUser } from "../../../session.tsx";
import { VerifiedForm } from "../../me/factors/verified.tsx";
import { VerifiedButton } from "../../me/factors/verified-button.tsx";
import classes from "./page.module.css";

export type Person = Reply<"GET /api/people">["people"][number];

export const nameOf = ({ name, email }: Pick<Person, "name" | "email">) =>
  name === "" ? email : name;

interface PersonActionsProps {
  readonly person: Person;
  /** The last operator's role stays. */
  readonly isLastOperator: boolean;
}

export function PersonActions({ person, isLastOperator }: PersonActionsProps) {
  const isMe = useUser().id === person.id;
  return (
    <div className={classes.buttons}>
      {!isMe && <NewPassword person={person} />}
      {!isMe && person.has_second_factor && <ResetFactors person={person} />}
      {person.sessions > 0 && <EndSessions person={person} isMe={isMe} />}
      {person.is_operator && !isLastOperator && <RemoveOperator person={person} isMe={isMe} />}
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

function RemoveOperator({ person, isMe }: OwnProps) {
  const name = nameOf(person);
  const navigate = useNavigate();
  return (
    <VerifiedButton
      aria-label={isMe ? "Give up operator role" : `Remove operator role from ${name}`}
      question={isMe ? "Give up your operator role?" : `Remove the operator role from ${name}?`}
      consequence={
        isMe
          ? "You will have access only to your own accounts, and operator tokens you created are revoked. To undo this, another operator has to invite you again."
          : `${name} will have access only to their own accounts. Operator tokens they created are revoked.`
      }
      verb={isMe ? "Give up role" : "Remove role"}
      route="DELETE /api/people/:id/operator"
      input={{ params: { id: person.id }, query: isMe ? { oneself: "yes" } : {} }}
      onDone={() => {
        say(isMe ? "You are no longer an operator." : `${name} is no longer an operator.`);
        // This page is for operators.
        if (isMe) void navigate({ to: "/" });
      }}
    >
      {isMe ? "Give up operator role" : "Remove operator role"}
    </VerifiedButton>
  );
}
