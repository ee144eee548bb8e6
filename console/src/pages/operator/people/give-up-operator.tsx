import { Button } from "@mantine/core";
import { useState } from "react";
import { Dialog, DialogBody } from "../../../components/form/dialog.tsx";
import { VerifiedButton } from "../../me/factors/verified-button.tsx";
import type { Person } from "./person.ts";

const label = "Give up operator role";

/** Loads the whole console again: what it knows is for operators, and would be asked for once more. */
const leave = () => new Promise<void>(() => location.assign("/"));

interface GiveUpProps {
  readonly person: Person;
  readonly isOnly: boolean;
}

export function GiveUpOperator({ person, isOnly }: GiveUpProps) {
  if (isOnly) return <OnlyOperator />;
  return (
    <VerifiedButton
      aria-label={label}
      question="Give up your operator role?"
      consequence={<Consequence person={person} />}
      verb="Give up role"
      route="DELETE /api/people/:id/operator"
      input={{ params: { id: person.id }, query: { oneself: "yes" } }}
      onDone={leave}
    >
      {label}
    </VerifiedButton>
  );
}

function Consequence({ person }: { readonly person: Person }) {
  const { accounts, is_operator_by_identity: isByIdentity } = person;
  const names = accounts.map(({ name, role }) => `${name} (${role})`).join(", ");
  return (
    <>
      <p>
        {names === ""
          ? "You are not a member of any account, so you will lose all access."
          : `You keep access only to the accounts where you are a member: ${names}.`}
      </p>
      <p>Operator tokens and invitation links that you created stop working.</p>
      <p>
        {isByIdentity
          ? "Your next sign-in gives the role back, because it comes from a group at the identity provider."
          : "Only another operator can make you an operator again."}
      </p>
    </>
  );
}

function OnlyOperator() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => (
          <DialogBody title="You are the only operator">
            <p>The platform needs at least one. Invite another operator, then give up your role.</p>
          </DialogBody>
        )}
      </Dialog>
    </>
  );
}
