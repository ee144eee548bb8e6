import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import classes from "./page.module.css";

type Setting = Reply<"GET /api/settings">["settings"][number];

const columns: readonly Column<Setting>[] = [
  {
    header: "Setting",
    cell: ({ name, about }) => (
      <div className={classes.setting}>
        <code>{name}</code>
        <span>{about}</span>
      </div>
    ),
  },
  {
    header: "Value",
    cell: ({ value }) =>
      value === null || value === "" ? (
        <span className={classes.quiet}>not set</span>
      ) : (
        <code className={classes.value}>{value}</code>
      ),
  },
  { header: "From", cell: ({ source }) => <Source source={source} /> },
  {
    header: "In svc.yaml",
    cell: ({ in_file: name }) =>
      name === null ? (
        <span className={classes.quiet}>environment only</span>
      ) : (
        <code className={classes.file}>{name}</code>
      ),
  },
];

export function SettingsTable({ settings }: { readonly settings: readonly Setting[] }) {
  return (
    <DataTable
      caption="Settings in force"
      columns={columns}
      rows={settings}
      rowKey={({ name }) => name}
      empty={
        <EmptyState
          icon={IconAdjustmentsHorizontal}
          title="No such setting"
          about="Look for a part of its name or of what it does, or show those with their default too."
        />
      }
    />
  );
}

function Source({ source }: { readonly source: string }) {
  if (source === "default") return <StateBadge state="off" label="default" />;
  return <StateBadge state="active" label={source === "file" ? "svc.yaml" : source} />;
}
