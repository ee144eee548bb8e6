import { Button } from "@mantine/core";
import { IconServer2 } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Money } from "../../../components/money/money.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { Moment } from "../../../components/table/moment.tsx";
import { type State, StateBadge } from "../../../components/table/state-badge.tsx";
import { useChange } from "../../../queries.ts";

export type Node = Reply<"GET /api/nodes">["nodes"][number];

export function NodesTable({ nodes }: { readonly nodes: readonly Node[] }) {
  return (
    <DataTable
      caption="Nodes"
      columns={[...columns, actionsColumn<Node>((node) => actionsOf(node, nodes))]}
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
  drained: "pending",
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
  { header: "State", cell: NodeState },
  { header: "Version", cell: ({ version }) => version },
  { header: "Load", cell: Load },
  {
    header: "Borrowed",
    isFigure: true,
    cell: ({ leases, leased_usd: usd }) =>
      leases === 0 ? (
        <span className="soft">—</span>
      ) : (
        <div className="lines nowrap">
          <Money usd={usd} places={4} />
          <small>{leases === 1 ? "of 1 account" : `of ${leases} accounts`}</small>
        </div>
      ),
  },
  {
    header: "Started",
    cell: ({ started_at: started, last_seen_at: seen, unseen_s: seconds, state }) => (
      <div className="lines nowrap">
        <Moment at={started} />
        {(state === "silent" || state === "stopped") && (
          <small>Last seen {seconds < 120 ? `${seconds} s ago` : <Moment at={seen} />}</small>
        )}
      </div>
    ),
  },
];

function NodeState({ state, is_draining: isDraining }: Node) {
  return (
    <div className="lines">
      <div>
        <StateBadge state={states[state]} label={state} />
      </div>
      {state === "silent" && isDraining && <small>Drained</small>}
    </div>
  );
}

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

/** Workers share a port, so the first one that runs has the button of their machine. */
function actionsOf(node: Node, nodes: readonly Node[]) {
  const running = nodes.filter(
    ({ machine, state }) => machine === node.machine && state !== "stopped",
  );
  if (running[0]?.name !== node.name) return null;
  const isDraining = running.every(({ is_draining: isDrained }) => isDrained);
  return <Actions name={node.machine} workers={running.length} isDraining={isDraining} />;
}

function Actions({
  name,
  workers,
  isDraining,
}: {
  readonly name: string;
  readonly workers: number;
  readonly isDraining: boolean;
}) {
  const input = { params: { name } };
  const resume = useChange("POST /api/nodes/:name/resume", {
    onDone: () => say(`${name} takes calls again.`),
  });
  if (isDraining)
    return (
      <>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Resume ${name}`}
          loading={resume.isPending}
          onClick={() => resume.mutate(input)}
        >
          Resume
        </Button>
        <ErrorNotice problem={resume.error} />
      </>
    );
  return (
    <ConfirmButton
      size="compact-sm"
      aria-label={`Drain ${name}`}
      question={`Drain ${name}?`}
      consequence={`${workers > 1 ? `All ${workers} workers fail` : "It fails"} the health check at once, and after SVC_DRAIN_S seconds (10 by default) close${workers > 1 ? "" : "s"} the port, so that load balancers choose other nodes. Calls in flight finish. You can resume it at any time; a restart resumes it too.`}
      verb="Drain"
      route="POST /api/nodes/:name/drain"
      input={input}
      onDone={() => say(`${name} is draining.`)}
    >
      Drain
    </ConfirmButton>
  );
}
