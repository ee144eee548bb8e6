import { Button } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { Panel } from "../../../components/layout/panel.tsx";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { type Column, DataTable } from "../../../components/table/data-table.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatShare } from "../../../format/figures.ts";
import { RouteState } from "../catalog/route-names.tsx";
import classes from "./page.module.css";
import { RoutesDialog } from "./routes-dialog.tsx";

type Entry = Reply<"GET /api/catalog/:model">;
type Route = Entry["routes"][number];

export function RoutesPanel({ entry }: { readonly entry: Entry }) {
  const [isEditing, setEditing] = useState(false);
  const routes = entry.routes.toSorted((one, other) => one.priority - other.priority);
  return (
    <Panel
      title="Routes"
      about="The lowest priority is asked first; those of one priority share calls by weight. The others follow when these fail."
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPencil size={14} />}
          onClick={() => setEditing(true)}
        >
          Edit routes
        </Button>
      }
      isFlush
    >
      <DataTable
        caption={`Routes of ${entry.id}`}
        columns={columns(entry)}
        rows={routes}
        rowKey={({ provider, model }) => `${provider}/${model}`}
        empty={
          <p className={classes.nothing}>
            No route: nobody is asked for it. Edit the routes to name a provider.
          </p>
        }
      />
      <RoutesDialog entry={entry} isOpen={isEditing} onClose={() => setEditing(false)} />
    </Panel>
  );
}

function shareOf({ routes }: Entry, route: Route): string {
  const peers = routes.filter(({ priority, usable }) => priority === route.priority && usable);
  const total = peers.reduce((sum, { weight }) => sum + weight, 0);
  if (!route.usable || total === 0) return "—";
  return formatShare(route.weight / total);
}

const columns = (entry: Entry): readonly Column<Route>[] => [
  {
    header: "Target",
    cell: ({ provider, model }) => (
      <span className={classes.target}>
        {provider}
        <code>{model}</code>
      </span>
    ),
  },
  {
    header: "State",
    cell: (route) =>
      route.usable && (route.state === null || route.state === "closed") ? (
        <StateBadge
          state={route.state === null ? "unknown" : "closed"}
          label={route.state === null ? "not called yet" : "in service"}
        />
      ) : (
        <RouteState route={route} />
      ),
  },
  { header: "Priority", isFigure: true, cell: ({ priority }) => priority },
  { header: "Weight", isFigure: true, cell: ({ weight }) => weight },
  { header: "Share", isFigure: true, cell: (route) => shareOf(entry, route) },
  {
    header: "Cost to you",
    cell: ({ cost }) => <PriceTags price={cost} none="not known" />,
  },
];
