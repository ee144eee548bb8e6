import { IconServer2 } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Money } from "../../../components/money/money.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { type State, StateBadge } from "../../../components/table/state-badge.tsx";

export type Node = Reply<"GET /api/nodes">["nodes"][number];

export function NodesTable({ nodes }: { readonly nodes: readonly Node[] }) {
  return (
    <DataTable
      caption="Nodes"
      columns={columns}
      rows={nodes}
      rowKey={({ name }) => name}
      empty={
        <div className="inset">
          <EmptyState
            icon={IconServer2}
            title="No nodes"
            about="Start a gateway on this database: svc serve, or svc gateway."
          />
        </div>
      }
    />
  );
}

const states: Readonly<Record<Node["state"], State>> = {
  running: "active",
  draining: "pending",
  silent: "failed",
  stopped: "off",
};

const columns: readonly Column<Node>[] = [
  {
    header: "Node",
    cell: ({ name, address }) => (
      <div className="lines strong">
        {name}
        <small className="anywhere">{address}</small>
      </div>
    ),
  },
  { header: "State", cell: ({ state }) => <StateBadge state={states[state]} label={state} /> },
  { header: "Version", cell: ({ version }) => version },
  { header: "Load", cell: Load },
  {
    header: "Held for calls",
    isFigure: true,
    cell: ({ leases, leased_usd: usd }) => (
      <div className="lines nowrap">
        <Money usd={usd} />
        <small>{leases === 1 ? "1 account" : `${leases} accounts`}</small>
      </div>
    ),
  },
  {
    header: "Started",
    cell: ({ started_at: started, last_seen_at: seen, state }) => (
      <div className="lines nowrap">
        <Moment at={started} />
        {(state === "silent" || state === "stopped") && (
          <small>
            Last seen <Moment at={seen} />
          </small>
        )}
      </div>
    ),
  },
  actionsColumn((node) => <Actions node={node} />),
];

function Load({ load }: Node) {
  if (load === null) return <span className="soft">—</span>;
  const { calls, cpu_percent: cpu, memory_mb: memory } = load;
  return (
    <div className="lines nowrap">
      <div>{calls === 1 ? "1 call" : `${calls} calls`}</div>
      <small>
        {cpu} % CPU, {memory} MB
      </small>
    </div>
  );
}

function Actions({ node: { name, state } }: { readonly node: Node }) {
  const input = { params: { name } };
  if (state === "stopped") return null;
  if (state === "draining")
    return (
      <ConfirmButton
        size="compact-sm"
        aria-label={`Resume ${name}`}
        question={`Resume ${name}?`}
        consequence="It takes new calls again within a second."
        verb="Resume"
        route="POST /api/nodes/:name/resume"
        input={input}
        onDone={() => say(`${name} takes calls again.`)}
      >
        Resume
      </ConfirmButton>
    );
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={`Drain ${name}`}
      question={`Drain ${name}?`}
      consequence="It finishes its calls and rejects new ones with status 503, so that the load balancer uses other nodes. It stays so until you resume it or it restarts."
      verb="Drain"
      route="POST /api/nodes/:name/drain"
      input={input}
      onDone={() => say(`${name} is draining.`)}
    >
      Drain
    </ConfirmButton>
  );
}
