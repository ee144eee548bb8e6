import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { ShownLink } from "../../../components/form/shown-link.tsx";
import { useUser } from "../../../session.tsx";
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
      {person.sessions > 0 && <EndSessions person={person} isMe={isMe} />}
      {person.is_operator && !isLastOperator && <RemoveOperator person={person} isMe={isMe} />}
    </div>
  );
}

function NewPassword({ person }: { readonly person: Person }) {
  const name = nameOf(person);
  const [made, setMade] = useState<Reply<"POST /api/people/:id/reset">>();
  return (
    <>
      <ConfirmButton
        size="compact-sm"
        aria-label={`New password for ${name}`}
        question={`Make a link for a new password of ${name}?`}
        consequence="Whoever opens the link chooses a new password, which ends all sessions of this person. Until then the old one works. Send it to nobody else."
        verb="Make the link"
        route="POST /api/people/:id/reset"
        input={{ params: { id: person.id } }}
        onDone={setMade}
      >
        New password
      </ConfirmButton>
      <Dialog of={made} onClose={() => setMade(undefined)}>
        {(link) => <ShownLink title={`New password for ${name}`} made={link} />}
      </Dialog>
    </>
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
          ? "You are signed out in every browser, this one too, and must sign in again."
          : `${name} must sign in again in every browser. Keys and tokens go on working.`
      }
      verb="Sign out"
      route="DELETE /api/people/:id/sessions"
      input={{ params: { id: person.id } }}
      onDone={() => say(`${name} is signed out everywhere.`)}
    >
      Sign out
    </ConfirmButton>
  );
}

function RemoveOperator({ person, isMe }: OwnProps) {
  const name = nameOf(person);
  const navigate = useNavigate();
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={isMe ? "Give up role of an operator" : `Take role of an operator from ${name}`}
      question={
        isMe ? "Give up your own role as an operator?" : `Take the operator's role from ${name}?`
      }
      consequence={
        isMe
          ? "You will see only the accounts that you are a member of. You cannot take it back: another operator must invite you again."
          : `${name} will see only the accounts they are a member of. Operator's tokens they made go on working: revoke those that only they knew.`
      }
      verb={isMe ? "Give it up" : "Take the role"}
      route="DELETE /api/people/:id/operator"
      input={{ params: { id: person.id }, query: isMe ? { oneself: "yes" } : {} }}
      onDone={() => {
        say(isMe ? "You are no operator any more." : `${name} is no operator any more.`);
        // This page is for operators.
        if (isMe) void navigate({ to: "/" });
      }}
    >
      {isMe ? "Give up role" : "Take role"}
    </ConfirmButton>
  );
}
