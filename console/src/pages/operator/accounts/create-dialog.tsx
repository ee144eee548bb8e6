import { Button, Checkbox, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiProblem, type Reply } from "../../../api.ts";
import { ShownOnce } from "../../../components/code/shown-once.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { formatExact } from "../../../format/moments.ts";
import { useChange } from "../../../queries.ts";
import { LimitFields, limitFieldNames } from "../account/limit-fields.tsx";
import { noLimits, toLimitFields } from "../account/limits.ts";
import classes from "./page.module.css";

interface CreateDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function CreateDialog({ isOpen, onClose }: CreateDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New account" size="lg">
      <CreateForm onClose={onClose} />
    </Modal>
  );
}

const fields = ["name", "credit_usd", "email", ...limitFieldNames];

/** Inside the dialog, so that it begins anew each time. */
function CreateForm({ onClose }: Pick<CreateDialogProps, "onClose">) {
  const [name, setName] = useState("");
  const [credit, setCredit] = useState("");
  const [owner, setOwner] = useState<Owner>({ isInvited: true, email: "" });
  const [limits, setLimits] = useState(noLimits);
  const create = useChange("POST /api/accounts");
  if (create.data !== undefined) return <Created account={create.data} onClose={onClose} />;
  const error = atName(create.error);
  const submit = () => {
    const given = { credit: credit.trim(), email: owner.email.trim() };
    create.mutate({
      body: {
        name: name.trim(),
        ...toLimitFields(limits),
        ...(given.credit !== "" && { credit_usd: given.credit }),
        ...(owner.isInvited && { invite_owner: true }),
        ...(owner.isInvited && given.email !== "" && { email: given.email }),
      },
    });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="lg">
        <div className={classes.pair}>
          <TextInput
            label="Name"
            description="Who it is for: a company, a team, a project."
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldError(error, "name")}
          />
          <TextInput
            label="First credit in USD"
            description="Without credit, every call is refused."
            inputMode="decimal"
            placeholder="25.00"
            value={credit}
            onChange={(event) => setCredit(event.currentTarget.value)}
            error={fieldError(error, "credit_usd")}
          />
        </div>
        <OwnerFields value={owner} onChange={setOwner} problem={error} />
        <fieldset className={classes.limits}>
          <legend>Limits (optional)</legend>
          <LimitFields value={limits} onChange={setLimits} problem={error} />
        </fieldset>
        <FormProblem problem={error} fields={fields} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create the account
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface Owner {
  readonly isInvited: boolean;
  readonly email: string;
}

interface OwnerFieldsProps {
  readonly value: Owner;
  readonly onChange: (value: Owner) => void;
  readonly problem: ApiProblem | null;
}

function OwnerFields({ value, onChange, problem }: OwnerFieldsProps) {
  return (
    <Stack gap="xs">
      <Checkbox
        label="Make a link for its owner"
        description="The owner then makes keys and invites others."
        checked={value.isInvited}
        onChange={(event) => onChange({ ...value, isInvited: event.currentTarget.checked })}
      />
      {value.isInvited && (
        <TextInput
          label="The owner's email (optional)"
          description="Then only somebody with this address can use the link."
          type="email"
          autoComplete="off"
          value={value.email}
          onChange={(event) => onChange({ ...value, email: event.currentTarget.value })}
          error={fieldError(problem, "email")}
        />
      )}
    </Stack>
  );
}

/** What is in conflict is the name: it is taken. */
function atName(problem: ApiProblem | null): ApiProblem | null {
  if (problem?.status !== 409) return problem;
  const { status, code, message } = problem;
  return new ApiProblem({ status, code, message, field: "name" });
}

function Created(props: {
  readonly account: Reply<"POST /api/accounts">;
  readonly onClose: () => void;
}) {
  const { account, onClose } = props;
  const navigate = useNavigate();
  const link = account.owner_link;
  return (
    <Stack>
      <p className={classes.created}>
        <strong>{account.name}</strong>{" "}
        {Number(account.balance_usd) > 0
          ? "is there and can be used at once."
          : "is there. It has no credit yet: book some money on it before it is used."}
      </p>
      {link !== null && (
        <>
          <ShownOnce secret={link.link} what="the owner's link">
            Copy the owner's link now and send it yourself: no mail is sent, and it is not shown
            again.
          </ShownOnce>
          <p className={classes.created}>
            One person can use it once, until{" "}
            <time>{formatExact(Date.parse(link.expires_at))}</time>.
          </p>
        </>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Done
        </Button>
        <Button
          onClick={() =>
            void navigate({ to: "/operator/accounts/$id", params: { id: account.id } })
          }
        >
          Open the account
        </Button>
      </Group>
    </Stack>
  );
}
