import { Button, Progress } from "@mantine/core";
import { IconCpu, IconDownload } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { CodeBlock } from "../../../components/code/code-block.tsx";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { actionsColumn, type Column, DataTable } from "../../../components/table/data-table.tsx";
import { StatTile, Tiles } from "../../../components/table/stat-tile.tsx";
import { type State, StateBadge } from "../../../components/table/state-badge.tsx";
import { formatBytes } from "../../../format/figures.ts";
import { useApi, useChange } from "../../../queries.ts";
import classes from "./page.module.css";

type Engine = Reply<"GET /api/engine">;
type Weights = Engine["weights"][number];

const calmMs = 5_000;
const busyMs = 1_000;
const movingPhases: readonly Weights["phase"][] = ["waiting", "fetching", "preparing"];
const isMoving = ({ phase }: Weights) => movingPhases.includes(phase);

export function Page() {
  const calm = useApi("GET /api/engine", {}, { everyMs: calmMs });
  const isBusy = calm.data?.weights.some(isMoving) === true;
  // Polls faster while a download is running.
  useApi("GET /api/engine", {}, { everyMs: busyMs, enabled: isBusy });
  const engine = calm.data;
  return (
    <>
      <PageHeader
        title="Embedded engine"
        about="Small models that run on this machine, for trying out the gateway without a vendor."
        mark={engine !== undefined && <EngineBadge engine={engine} />}
      />
      <ErrorNotice problem={calm.error} onRetry={calm.refetch} />
      {calm.isPending && <Loading lines={6} label="Loading engine" />}
      {engine?.state === "off" && <SwitchedOff />}
      {engine !== undefined && engine.state !== "off" && <Running engine={engine} />}
    </>
  );
}

const badges: Readonly<Record<string, State>> = {
  running: "active",
  starting: "pending",
  installing: "pending",
  failed: "failed",
};

const EngineBadge = ({ engine }: { readonly engine: Engine }) => (
  <StateBadge state={badges[engine.state] ?? "off"} label={engine.state} />
);

function SwitchedOff() {
  return (
    <Panel title="The engine is off">
      <p className={classes.words}>
        Models with routes to <code>engine</code> are not served. To turn it on, start the gateway
        with this variable or add it to <code>svc.yaml</code>:
      </p>
      <CodeBlock
        what="how to turn on the engine"
        samples={[
          { label: "Environment", code: "SVC_ENGINE=on svc serve" },
          { label: "svc.yaml", code: "settings:\n  engine: on" },
        ]}
      />
    </Panel>
  );
}

function Running({ engine }: { readonly engine: Engine }) {
  const { weights, models, problem } = engine;
  const ready = weights.filter(({ phase }) => phase === "ready");
  const active = models.reduce((sum, one) => sum + one.active, 0);
  const waiting = models.reduce((sum, one) => sum + one.waiting, 0);
  return (
    <>
      {problem !== null && (
        <p className="notice below" data-tone="bad" role="alert">
          <strong>The engine cannot run.</strong> {problem}
        </p>
      )}
      <Tiles>
        <StatTile
          label="State"
          value={stateWords[engine.state]?.label ?? engine.state}
          note={
            stateWords[engine.state]?.about ?? (engine.pid === null ? "" : `Process ${engine.pid}`)
          }
        />
        <StatTile
          label="Active calls"
          value={active}
          note={waiting === 0 ? "Queue empty" : `${waiting} queued`}
        />
        <StatTile
          label="Weights on disk"
          value={`${ready.length} of ${weights.length}`}
          note={formatBytes(ready.reduce((sum, one) => sum + one.total_bytes, 0))}
        />
      </Tiles>
      <Panel
        title="Models"
        about="Each model runs in its own process and loads on its first call."
        isFlush
      >
        <DataTable
          caption="Models in the engine"
          columns={modelColumns}
          rows={models}
          rowKey={({ name }) => name}
          empty={
            <div className="inset">
              <EmptyState
                icon={IconCpu}
                title="No models loaded"
                about="A model loads on its first call."
              />
            </div>
          }
        />
      </Panel>
      <WeightsPanel weights={weights} />
    </>
  );
}

const stateWords: Readonly<Record<string, { readonly label: string; readonly about?: string }>> = {
  running: { label: "Running" },
  starting: { label: "Starting" },
  installing: { label: "Installing", about: "Installing its libraries" },
  unused: { label: "Unused", about: "No model in the catalog needs it" },
  failed: { label: "Failed", about: "Retrying automatically" },
};

const modelStates: Readonly<Record<string, State>> = { loaded: "active", loading: "pending" };

const modelColumns: readonly Column<Engine["models"][number]>[] = [
  { header: "Model", cell: ({ name }) => <code>{name}</code> },
  {
    header: "State",
    cell: ({ state }) => <StateBadge state={modelStates[state] ?? "off"} label={state} />,
  },
  { header: "Process", isFigure: true, cell: ({ pid }) => pid ?? "—" },
  { header: "Active", isFigure: true, cell: ({ active }) => active },
  { header: "Queued", isFigure: true, cell: ({ waiting }) => waiting },
];

function WeightsPanel({ weights }: { readonly weights: readonly Weights[] }) {
  const pull = useChange("POST /api/engine/pull");
  const missing = weights.filter(({ phase }) => phase === "absent" || phase === "failed");
  const fetchSets = (sets: readonly Weights[]) =>
    pull.mutate({ body: { sets: sets.map(({ set }) => set) } });
  const columns: readonly Column<Weights>[] = [
    {
      header: "Set",
      cell: ({ set, about, license }) => (
        <span className="lines strong">
          {set}
          <small>{about}</small>
          <small>{license}</small>
        </span>
      ),
    },
    { header: "State", cell: (one) => <Phase weights={one} /> },
    {
      header: "Size",
      isFigure: true,
      cell: ({ total_bytes: bytes }) => formatBytes(bytes),
    },
    actionsColumn(
      (one) =>
        (one.phase === "absent" || one.phase === "failed") && (
          <Button
            size="compact-sm"
            variant="default"
            disabled={pull.isPending}
            onClick={() => fetchSets([one])}
            aria-label={`${one.phase === "failed" ? "Try again" : "Download"}: ${one.set}`}
          >
            {one.phase === "failed" ? "Try again" : "Download"}
          </Button>
        ),
    ),
  ];
  return (
    <Panel
      title="Weights"
      about="Weights that the catalog needs are downloaded automatically, one at a time. Download the rest here."
      actions={
        missing.length > 1 && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} />}
            loading={pull.isPending}
            onClick={() => fetchSets(missing)}
          >
            Download all missing
          </Button>
        )
      }
      isFlush
    >
      <div className="inset">
        <ErrorNotice problem={pull.error} />
      </div>
      <DataTable
        caption="Weights on this machine"
        columns={columns}
        rows={weights}
        rowKey={({ set }) => set}
      />
    </Panel>
  );
}

const phases: Readonly<Record<Weights["phase"], readonly [State, string]>> = {
  absent: ["off", "not downloaded"],
  waiting: ["pending", "queued"],
  fetching: ["pending", "downloading"],
  preparing: ["pending", "preparing"],
  ready: ["active", "ready"],
  failed: ["failed", "failed"],
};

function Phase({ weights }: { readonly weights: Weights }) {
  const { set, phase, done_bytes: done, total_bytes: total, problem, needed } = weights;
  const [state, label] = phases[phase];
  return (
    <span className={classes.phase}>
      <StateBadge state={state} label={label} />
      {phase === "fetching" && (
        <>
          <Progress
            value={(100 * done) / Math.max(1, total)}
            aria-label={`Download progress of ${set}`}
          />
          <small>
            {formatBytes(done)} of {formatBytes(total)}
          </small>
        </>
      )}
      {phase === "absent" && !needed && <small>No model in the catalog needs it.</small>}
      {problem !== null && <small>{problem}</small>}
    </span>
  );
}
