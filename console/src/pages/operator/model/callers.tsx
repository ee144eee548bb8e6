import { Link } from "@tanstack/react-router";
import type { Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { BehindNote } from "../../../components/period/behind-note.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { formatCount } from "../../../format/figures.ts";
import { formatDate } from "../../../format/moments.ts";
import { useApi } from "../../../queries.ts";

type Caller = Reply<"GET /api/models/:model/callers">["callers"][number];

/** Who has to be told that the model goes. */
export function Callers({ model }: { readonly model: string }) {
  const found = useApi("GET /api/models/:model/callers", { params: { model } });
  return (
    <Panel
      title="Current callers"
      about="Callers since the moment it was deprecated, most recent first."
      isFlush
    >
      <div className="inset">
        <ErrorNotice problem={found.error} onRetry={found.refetch} />
        {found.isPending && <Loading lines={3} />}
        <BehindNote sums={found.data} />
      </div>
      {found.data !== undefined && (
        <DataTable
          caption={`Callers of ${model}`}
          columns={columns}
          rows={found.data.callers}
          rowKey={({ account, key }) => `${account} ${key ?? ""}`}
          empty="No calls since it was deprecated."
        />
      )}
    </Panel>
  );
}

const columns: readonly Column<Caller>[] = [
  {
    header: "Account",
    cell: ({ account, account_name: name }) => (
      <Link to="/operator/accounts/$id" params={{ id: account }}>
        {name ?? account}
      </Link>
    ),
  },
  {
    header: "Key",
    cell: ({ key, key_name: name }) =>
      key === null ? "Temporary keys" : (name ?? <code>{key}</code>),
  },
  { header: "Calls", isFigure: true, cell: ({ receipts }) => formatCount(receipts) },
  {
    header: "Last call",
    isFigure: true,
    cell: ({ last_day: day }) => (
      <time dateTime={day} title={`${day} (UTC)`}>
        {formatDate(day)}
      </time>
    ),
  },
];
