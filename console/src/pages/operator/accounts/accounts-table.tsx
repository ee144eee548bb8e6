import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { Money } from "../../../components/money/money.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatCount } from "../../../format/figures.ts";
import { limitWords } from "../account/limits.ts";
import classes from "./page.module.css";

export type Account = Reply<"GET /api/accounts">[number];

const columns: readonly Column<Account>[] = [
  {
    header: "Account",
    cell: ({ id, name }) => (
      <Link className="strong anywhere" to="/operator/accounts/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { header: "State", cell: ({ status }) => <StateBadge state={status} /> },
  { header: "Balance", isFigure: true, cell: ({ balance_usd }) => <Balance usd={balance_usd} /> },
  {
    header: "Spent this month",
    isFigure: true,
    cell: ({ spent_month_usd: usd }) => (usd === null ? "…" : <Money usd={usd} />),
  },
  { header: "Keys", isFigure: true, cell: ({ keys }) => formatCount(keys) },
  {
    header: "Limits",
    cell: ({ limits }) => {
      const words = limitWords(limits);
      return <span className="soft small">{words.length === 0 ? "None" : words.join(", ")}</span>;
    },
  },
  {
    header: "Created",
    isExtra: true,
    cell: ({ created_at }) => (
      <span className="nowrap">
        <Moment at={created_at} />
      </span>
    ),
  },
];

export function AccountsTable({ accounts }: { readonly accounts: readonly Account[] }) {
  return (
    <DataTable
      caption="Accounts"
      columns={columns}
      rows={accounts}
      rowKey={({ id }) => id}
      isLinked
      empty={
        <EmptyState icon={IconSearch} title="No matches" about="Search by account name or ID." />
      }
    />
  );
}

/** An empty balance is shown in words as well as by color. */
function Balance({ usd }: { readonly usd: string }) {
  if (Number(usd) > 0) return <Money usd={usd} digits="balance" />;
  return (
    <span className={classes.empty}>
      <Money usd={usd} digits="balance" />
      <span className="soft small">No credit</span>
    </span>
  );
}
