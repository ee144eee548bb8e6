import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";

type Setting = Reply<"GET /api/settings">["settings"][number];

const columns: readonly Column<Setting>[] = [
  {
    header: "Setting",
    cell: ({ name, about }) => (
      <div className="lines">
        <span className="strong">
          <code className="small">{name}</code>
        </span>
        <small>{about}</small>
      </div>
    ),
  },
  {
    header: "Value",
    cell: ({ value }) =>
      value === null || value === "" ? (
        <span className="soft small nowrap">Not set</span>
      ) : (
        <code className="small anywhere">{value}</code>
      ),
  },
  { header: "Source", cell: ({ source }) => <Source source={source} /> },
  {
    header: "In svc.yaml",
    cell: ({ in_file: name }) =>
      name === null ? (
        <span className="soft small nowrap">Environment only</span>
      ) : (
        <code className="small nowrap">{name}</code>
      ),
  },
];

export function SettingsTable({ settings }: { readonly settings: readonly Setting[] }) {
  return (
    <DataTable
      caption="Active settings"
      columns={columns}
      rows={settings}
      rowKey={({ name }) => name}
      empty={
        <EmptyState
          icon={IconAdjustmentsHorizontal}
          title="No matches"
          about="Search by name or description, or turn off “Only changed settings”."
        />
      }
    />
  );
}

function Source({ source }: { readonly source: string }) {
  if (source === "default") return <StateBadge state="off" label="default" />;
  return <StateBadge state="active" label={source === "file" ? "svc.yaml" : source} />;
}
