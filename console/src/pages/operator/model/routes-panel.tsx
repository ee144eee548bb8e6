import { Button, Group } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { ServingBadge } from "../../../components/table/model-state.tsx";
import { formatShare } from "../../../format/figures.ts";
import { FileNote, isInFile } from "../catalog/source.tsx";
import { RouteDialog } from "./route-dialog.tsx";
import { isSameTarget, keepRoute, type Route } from "./route-drafts.ts";
import { shareOf } from "./route-share.ts";

type Entry = Reply<"GET /api/catalog/:model">;

export function RoutesPanel({ entry }: { readonly entry: Entry }) {
  const [editing, setEditing] = useState<Route | "new">();
  const isLocked = isInFile(entry, "routes");
  const routes = entry.routes.toSorted((one, other) => one.priority - other.priority);
  return (
    <Panel
      title="Routes"
      about="Routes with the lowest priority number are tried first and share calls by weight. If they fail, the next priority is tried."
      actions={
        !isLocked && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEditing("new")}
          >
            Add route
          </Button>
        )
      }
      isFlush
    >
      {isLocked && (
        <div className="inset">
          <FileNote source={entry.source} />
        </div>
      )}
      <DataTable
        caption={`Routes of ${entry.id}`}
        columns={columns(entry, setEditing)}
        rows={routes}
        rowKey={({ provider, model }) => `${provider}/${model}`}
        empty="No routes yet. Add one to serve this model."
      />
      <Dialog of={editing} onClose={() => setEditing(undefined)} size="lg">
        {(route) => <RouteDialog entry={entry} route={route} />}
      </Dialog>
    </Panel>
  );
}

interface ActionsProps {
  readonly entry: Entry;
  readonly route: Route;
  readonly onEdit: (route: Route) => void;
}

function Actions({ entry, route, onEdit }: ActionsProps) {
  const isLocked = isInFile(entry, "routes");
  const target = `${route.provider}/${route.model}`;
  if (isLocked && route.cost_in_file) return null;
  const others = entry.routes.filter((one) => !isSameTarget(one, route));
  return (
    <Group gap={4} justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => onEdit(route)}
        aria-label={`${isLocked ? "Set cost of" : "Edit"} ${target}`}
      >
        {isLocked ? "Set cost" : "Edit"}
      </Button>
      {!isLocked && (
        <ConfirmButton
          size="compact-sm"
          question={`Remove the route to ${target}?`}
          consequence={
            <p>
              {others.length === 0
                ? `This is the only route of ${entry.id}. Calls to ${entry.id} are rejected until you add another.`
                : `Calls to ${entry.id} use its other routes.`}
            </p>
          }
          verb="Remove"
          aria-label={`Remove ${target}`}
          route="PUT /api/catalog/:model/routes"
          input={{
            params: { model: entry.id },
            body: { routes: others.map(keepRoute) },
          }}
          onDone={() => say(`Removed the route to ${target}.`)}
        >
          Remove
        </ConfirmButton>
      )}
    </Group>
  );
}

const columns = (entry: Entry, onEdit: (route: Route) => void): readonly Column<Route>[] => [
  {
    header: "Target",
    cell: ({ provider, model }) => (
      <span className="lines">
        {provider}
        <code>{model}</code>
      </span>
    ),
  },
  {
    header: "State",
    cell: ({ state }) => <ServingBadge state={state} />,
  },
  { header: "Priority", isFigure: true, cell: ({ priority }) => priority },
  { header: "Weight", isFigure: true, cell: ({ weight }) => weight },
  {
    header: "Share now",
    isFigure: true,
    cell: (route) => formatShare(shareOf(entry.routes, route)),
  },
  {
    header: "Cost to you",
    cell: ({ cost }) => <PriceTags price={cost} none="Not set" />,
  },
  actionsColumn((route) => <Actions entry={entry} route={route} onEdit={onEdit} />),
];
