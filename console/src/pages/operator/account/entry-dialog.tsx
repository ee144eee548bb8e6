import { SegmentedControl, Text, Textarea, TextInput } from "@mantine/core";
import { sumUsd } from "../../../../../src/base/money.ts";
import type { Reply } from "../../../api.ts";
import { say } from "../../../components/feedback/toasts.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { Moment } from "../../../components/table/moment.tsx";
import { formatBalance, formatUsd } from "../../../format/money.ts";
import type { Details } from "./limits.ts";

const kinds = [
  { value: "credit", label: "Credit", about: "Adds money to the balance." },
  {
    value: "refund",
    label: "Refund",
    about: "Returns money for calls that should not have been charged.",
  },
  {
    value: "withdrawal",
    label: "Withdrawal",
    about: "Takes money out of the balance. Money held for calls in flight stays.",
  },
] as const;
type Kind = (typeof kinds)[number]["value"];

const titles: Readonly<Record<Kind, string>> = {
  credit: "Add credit to",
  refund: "Refund",
  withdrawal: "Withdraw from",
};
const submits: Readonly<Record<Kind, string>> = {
  credit: "Add credit",
  refund: "Refund",
  withdrawal: "Withdraw",
};
const done: Readonly<Record<Kind, string>> = {
  credit: "Added",
  refund: "Refunded",
  withdrawal: "Withdrew",
};

export function AddCredit({ account }: { readonly account: Details }) {
  const form = useForm({
    route: "POST /api/accounts/:account/entries",
    values: { kind: "credit" as Kind, usd: "", reference: "", note: "" },
    toInput: ({ kind, usd, reference, note }) => ({
      params: { account: account.id },
      body: { kind, usd: usd.trim(), reference: reference.trim(), note: note.trim() },
    }),
    onDone: ({ repeated, kind, amount_usd, balance_usd }) => {
      if (repeated) return "stay";
      return say(
        `${done[kind]} ${formatUsd(amount_usd.replace("-", ""))}. New balance: ${formatBalance(balance_usd)}.`,
      );
    },
  });
  const repeated = form.reply?.repeated === true ? form.reply : undefined;
  return (
    <FormDialog
      title={`${titles[form.values.kind]} ${account.name}`}
      form={form}
      submit={submits[form.values.kind]}
      cancel={repeated === undefined ? "Cancel" : "Close"}
    >
      <KindChoice
        value={form.values.kind}
        onChange={(kind) => form.edit({ kind })}
        freeUsd={account.free_usd}
      />
      {isBeyondCharges(form.values, account) && (
        <p className="notice" role="status">
          This is more than the account was ever charged ({formatUsd(chargedUsd(account))}). Use
          “Credit” to add money that is no refund.
        </p>
      )}
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
        description="For example an invoice number. Each reference takes effect only once."
        maxLength={200}
        {...form.text("reference")}
      />
      <Textarea
        label="Note (optional)"
        description="Shown to members in the ledger."
        maxLength={500}
        autosize
        minRows={2}
        {...form.text("note")}
      />
      {repeated !== undefined && <Repeated entry={repeated} />}
    </FormDialog>
  );
}

const chargedUsd = ({ by_model: models }: Details) =>
  sumUsd(models.map(({ charged_usd }) => charged_usd));

/** A refund may round up or be a courtesy, so that it is not rejected. */
const isBeyondCharges = (
  { kind, usd }: { readonly kind: Kind; readonly usd: string },
  account: Details,
) => kind === "refund" && Number(usd) > Number(chargedUsd(account));

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
        aria-label="Type"
        data={kinds.map(({ value, label }) => ({ value, label }))}
        value={kind}
        onChange={(text) => onChange(kinds.find(({ value }) => value === text)?.value ?? kind)}
      />
      <Text size="sm" c="dimmed" mt={6} aria-live="polite">
        {chosen?.about}
        {kind === "withdrawal" && ` Available: ${formatBalance(freeUsd)}.`}
      </Text>
    </div>
  );
}

function Repeated({ entry }: { readonly entry: Reply<"POST /api/accounts/:account/entries"> }) {
  return (
    <p className="notice" role="status">
      Nothing changed. The reference “{entry.reference}” was already used for{" "}
      {formatUsd(entry.amount_usd)}, <Moment at={entry.created_at} />. Balance:{" "}
      {formatBalance(entry.balance_usd)}.
    </p>
  );
}
