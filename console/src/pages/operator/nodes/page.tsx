import { CodeBlock } from "../../../components/code/code-block.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { useApi } from "../../../queries.ts";
import { type Node, NodesTable } from "./nodes-table.tsx";
import classes from "./page.module.css";

const everyMs = 2_000;

export function Page() {
  const list = useApi("GET /api/nodes", {}, { everyMs });
  const isAlone = list.data?.is_shared === false;
  return (
    <>
      <PageHeader
        title="Nodes"
        about="Gateway processes that share the database."
        hasTimes={!isAlone}
      />
      <ErrorNotice problem={list.error} onRetry={() => list.refetch()} />
      {list.isPending && <Loading lines={4} label="Loading nodes" />}
      {isAlone && <OneNode />}
      {list.data?.is_shared === true && (
        <Panel title={titleOf(list.data.nodes)} about={aboutOf(list.data.nodes)} isFlush>
          <NodesTable nodes={list.data.nodes} />
        </Panel>
      )}
    </>
  );
}

function OneNode() {
  return (
    <Panel title="One node">
      <p className={classes.words}>
        This gateway runs alone on SQLite. To run several nodes, set <code>SVC_DATABASE_URL</code>{" "}
        to the same PostgreSQL database on each machine.
      </p>
      <CodeBlock
        what="how to run several nodes"
        samples={[
          {
            label: "Environment",
            code: "SVC_DATABASE_URL=postgres://svc:PASSWORD@db.example/svc\nSVC_NODE=eu-1",
          },
        ]}
      />
    </Panel>
  );
}

function titleOf(nodes: readonly Node[]): string {
  const count = nodes.filter(({ state }) => state === "running").length;
  return `${count} ${count === 1 ? "node takes" : "nodes take"} calls`;
}

function aboutOf(nodes: readonly Node[]): string {
  // What a silent node reported last may be long over.
  const heard = nodes.filter(({ state }) => state !== "silent");
  const calls = heard.reduce((sum, { load }) => sum + (load?.calls ?? 0), 0);
  return `${calls} ${calls === 1 ? "call" : "calls"} in flight.`;
}
