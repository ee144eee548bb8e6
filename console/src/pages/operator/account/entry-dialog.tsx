import { SegmentedControl, Text, Textarea, TextInput } from "@mantine/core";
import type { Reply } from "../../../api.ts";
import { say } from "../../../components/feedback/toasts.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Moment } from "../../../components/table/moment.tsx";
import { formatUsd } from "../../../format/money.ts";
import type { Details } from "./limits.ts";

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

export function BookMoney({ account }: { readonly account: Details }) {
  const form = useForm({
    route: "POST /api/accounts/:account/entries",
    values: { kind: "credit" as Kind, usd: "", reference: "", note: "" },
    toInput: ({ kind, usd, reference, note }) => ({
      params: { account: account.id },
      body: { kind, usd: usd.trim(), reference: reference.trim(), note: note.trim() },
    }),
    onDone: ({ repeated, amount_usd, balance_usd }) => {
      if (repeated) return "stay";
      return say(`${formatUsd(amount_usd)} booked. The balance is ${formatUsd(balance_usd)}.`);
    },
  });
  const repeated = form.reply?.repeated === true ? form.reply : undefined;
  return (
    <FormDialog
      title={`Book money on ${account.name}`}
      form={form}
      submit="Book it"
      cancel={repeated === undefined ? "Cancel" : "Close"}
    >
      <KindChoice
        value={form.values.kind}
        onChange={(kind) => form.edit({ kind })}
        freeUsd={account.free_usd}
      />
      <TextInput
        label="Amount in USD"
        inputMode="decimal"
        placeholder="25.00"
        required
        data-autofocus
        {...form.text("usd")}
      />
      <TextInput
        label="Reference (optional)"
        description="Such as an invoice's number. It counts once: if this is sent twice, nothing is booked twice."
        maxLength={200}
        {...form.text("reference")}
      />
      <Textarea
        label="Note (optional)"
        description="Members of the account see it in their ledger."
        maxLength={500}
        autosize
        minRows={2}
        {...form.text("note")}
      />
      {repeated !== undefined && <Repeated entry={repeated} />}
    </FormDialog>
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
    <p className="notice" role="status">
      Nothing was changed: {formatUsd(entry.amount_usd)} with the reference “{entry.reference}” was
      booked already, <Moment at={entry.created_at} />. The balance is{" "}
      {formatUsd(entry.balance_usd)}.
    </p>
  );
}
