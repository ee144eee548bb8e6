import {
  Button,
  Group,
  Modal,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { formatUsd } from "../../../format/money.ts";
import { useChange } from "../../../queries.ts";
import classes from "./page.module.css";

interface EntryDialogProps {
  readonly account: { readonly id: string; readonly name: string; readonly free_usd: string };
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function EntryDialog({ account, isOpen, onClose }: EntryDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={`Book money on ${account.name}`} size="md">
      <EntryForm account={account} onClose={onClose} />
    </Modal>
  );
}

const kinds = [
  { value: "credit", label: "Credit", about: "Money that came in. Calls can use it at once." },
  { value: "refund", label: "Refund", about: "Given back, for calls that should not have cost." },
  {
    value: "withdrawal",
    label: "Withdrawal",
    about: "Money that goes out. What calls under way hold is left alone.",
  },
] as const;
type Kind = (typeof kinds)[number]["value"];

const fields = ["usd", "reference", "note"];

/** Inside the dialog, so that it begins anew each time. */
function EntryForm({ account, onClose }: Omit<EntryDialogProps, "isOpen">) {
  const [kind, setKind] = useState<Kind>("credit");
  const [usd, setUsd] = useState("");
  const [reference, setReference] = useState("");
  const [note, setNote] = useState("");
  const enter = useChange("POST /api/accounts/:account/entries", {
    onDone: ({ repeated, amount_usd, balance_usd }) => {
      if (repeated) return;
      say(`${formatUsd(amount_usd)} booked. The balance is ${formatUsd(balance_usd)}.`);
      onClose();
    },
  });
  const { error } = enter;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        enter.mutate({
          params: { account: account.id },
          body: { kind, usd: usd.trim(), reference: reference.trim(), note: note.trim() },
        });
      }}
    >
      <Stack>
        <KindChoice value={kind} onChange={setKind} freeUsd={account.free_usd} />
        <TextInput
          label="Amount in USD"
          inputMode="decimal"
          placeholder="25.00"
          required
          data-autofocus
          value={usd}
          onChange={(event) => setUsd(event.currentTarget.value)}
          error={fieldError(error, "usd")}
        />
        <TextInput
          label="Reference (optional)"
          description="Such as an invoice's number. It counts once: if this is sent twice, nothing is booked twice."
          maxLength={200}
          value={reference}
          onChange={(event) => setReference(event.currentTarget.value)}
          error={fieldError(error, "reference")}
        />
        <Textarea
          label="Note (optional)"
          description="Members of the account see it in their ledger."
          maxLength={500}
          autosize
          minRows={2}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
          error={fieldError(error, "note")}
        />
        {enter.data?.repeated === true && <Repeated entry={enter.data} />}
        <FormProblem problem={error} fields={fields} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {enter.data?.repeated === true ? "Close" : "Cancel"}
          </Button>
          <Button type="submit" loading={enter.isPending}>
            Book it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface KindChoiceProps {
  readonly value: Kind;
  readonly onChange: (kind: Kind) => void;
  readonly freeUsd: string;
}

function KindChoice({ value: kind, onChange, freeUsd }: KindChoiceProps) {
  const chosen = kinds.find(({ value }) => value === kind);
  return (
    <div>
      <SegmentedControl
        fullWidth
        aria-label="What it is"
        data={kinds.map(({ value, label }) => ({ value, label }))}
        value={kind}
        onChange={(text) => onChange(kinds.find(({ value }) => value === text)?.value ?? kind)}
      />
      <Text size="sm" c="dimmed" mt={6} aria-live="polite">
        {chosen?.about}
        {kind === "withdrawal" && ` ${formatUsd(freeUsd)} can be taken.`}
      </Text>
    </div>
  );
}

function Repeated({ entry }: { readonly entry: Reply<"POST /api/accounts/:account/entries"> }) {
  return (
    <div className={classes.notice} role="status">
      <p>
        Nothing was changed: {formatUsd(entry.amount_usd)} with the reference “{entry.reference}”
        was booked already, <Moment at={entry.created_at} />. The balance is{" "}
        {formatUsd(entry.balance_usd)}.
      </p>
    </div>
  );
}
