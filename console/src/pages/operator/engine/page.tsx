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
  // The same question, asked more often while something comes.
  useApi("GET /api/engine", {}, { everyMs: busyMs, enabled: isBusy });
  const engine = calm.data;
  return (
    <>
      <PageHeader
        title="Embedded engine"
        about="Models that run on this machine, without a vendor: small ones, to try everything with."
        mark={engine !== undefined && <EngineBadge engine={engine} />}
      />
      <ErrorNotice problem={calm.error} onRetry={calm.refetch} />
      {calm.isPending && <Loading lines={6} label="Loading the engine" />}
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
    <Panel title="It is switched off">
      <p className={classes.words}>
        Models that are routed to <code>engine</code> are not served. To switch it on, start the
        gateway with this setting, or write it into <code>svc.yaml</code>:
      </p>
      <CodeBlock
        what="how to switch the engine on"
        samples={[
          { label: "Environment", code: "SVC_ENGINE=on npm start" },
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
          <strong>Something keeps it from running.</strong> {problem}
        </p>
      )}
      <Tiles>
        <StatTile
          label="Process"
          value={engine.pid ?? "none"}
          note={stateWords[engine.state] ?? engine.state}
        />
        <StatTile
          label="Calls now"
          value={active}
          note={waiting === 0 ? "nobody waits" : `${waiting} wait for their turn`}
        />
        <StatTile
          label="Weights here"
          value={`${ready.length} of ${weights.length}`}
          note={formatBytes(ready.reduce((sum, one) => sum + one.total_bytes, 0))}
        />
      </Tiles>
      <Panel
        title="Models"
        about="Each runs in a process of its own, loaded by its first call."
        isFlush
      >
        <DataTable
          caption="Models of the engine"
          columns={modelColumns}
          rows={models}
          rowKey={({ name }) => name}
          empty={
            <div className="inset">
              <EmptyState
                icon={IconCpu}
                title="Nothing is loaded"
                about="A model is loaded by its first call, and listed here from then on."
              />
            </div>
          }
        />
      </Panel>
      <WeightsPanel weights={weights} />
    </>
  );
}

const stateWords: Readonly<Record<string, string>> = {
  running: "takes calls",
  starting: "is being started",
  installing: "its libraries are being installed",
  unused: "no model of the catalogue needs it",
  failed: "is tried again by itself",
};

const modelStates: Readonly<Record<string, State>> = { loaded: "active", loading: "pending" };

const modelColumns: readonly Column<Engine["models"][number]>[] = [
  { header: "Model", cell: ({ name }) => <code>{name}</code> },
  {
    header: "State",
    cell: ({ state }) => <StateBadge state={modelStates[state] ?? "off"} label={state} />,
  },
  { header: "Process", isFigure: true, cell: ({ pid }) => pid ?? "—" },
  { header: "Running", isFigure: true, cell: ({ active }) => active },
  { header: "Waiting", isFigure: true, cell: ({ waiting }) => waiting },
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
            aria-label={`${one.phase === "failed" ? "Try again" : "Fetch"}: ${one.set}`}
          >
            {one.phase === "failed" ? "Try again" : "Fetch"}
          </Button>
        ),
    ),
  ];
  return (
    <Panel
      title="Weights"
      about="What the catalogue needs is fetched by itself; the rest when you ask for it. One download at a time."
      actions={
        missing.length > 1 && (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} />}
            loading={pull.isPending}
            onClick={() => fetchSets(missing)}
          >
            Fetch all that are missing
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
  absent: ["off", "not here"],
  waiting: ["pending", "waits"],
  fetching: ["pending", "fetching"],
  preparing: ["pending", "being prepared"],
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
            aria-label={`${set}, fetched so far`}
          />
          <small>
            {formatBytes(done)} of {formatBytes(total)}
          </small>
        </>
      )}
      {phase === "absent" && !needed && <small>no model of the catalogue needs it</small>}
      {problem !== null && <small>{problem}</small>}
    </span>
  );
}
