import { oneNode } from "../../platform/nodes/operations.ts";
import type { ChangedNodesView, NodeView } from "../../platform/nodes/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";
import { shortUsd } from "./money-text.ts";

const list = viewCommand({
  name: "nodes",
  about: "List the gateways that share the database: state, load and the money they have borrowed.",
  examples: ["svc nodes", "svc nodes --json"],
  load: (operations) => operations.nodes.list({}),
  show({ is_shared: isShared, nodes }) {
    if (!isShared) return print(oneNode);
    if (nodes.length === 0) return printHint("No node runs. Start one: svc serve, or svc gateway");
    printTable(
      [
        "name",
        "state",
        "version",
        "address",
        "uptime",
        "calls",
        "cpu",
        "memory",
        "borrowed",
        "seen",
      ],
      nodes.map((node) => [
        node.name,
        stateText(node),
        node.version,
        node.address,
        node.uptime_s === null ? null : durationText(node.uptime_s),
        node.load?.calls ?? null,
        node.load === null ? null : `${node.load.cpu_percent} %`,
        node.load === null ? null : `${node.load.memory_mb} MB`,
        node.leases === 0 ? null : `${shortUsd(node.leased_usd)} USD`,
        node.unseen_s < 2 ? "now" : `${durationText(node.unseen_s)} ago`,
      ]),
    );
  },
});

const drain = viewCommand({
  name: "nodes drain",
  about:
    "Drain a node: it closes its port after SVC_DRAIN_S seconds and finishes its calls. svc nodes shows when it is drained. Workers share a port, so they are drained together, by the name of their machine.",
  positionals: ["NAME"],
  examples: ["svc nodes drain eu-1"],
  load: (operations, { positionals: [name = ""] }) => operations.nodes.drain({ name }),
  show: (view) => printChanged(view, "draining", "Already draining."),
});

const resume = viewCommand({
  name: "nodes resume",
  about: "Let a drained node take calls again.",
  positionals: ["NAME"],
  examples: ["svc nodes resume eu-1"],
  load: (operations, { positionals: [name = ""] }) => operations.nodes.resume({ name }),
  show: (view) => printChanged(view, "takes calls again", "It was not draining."),
});

export const nodeCommands: readonly Command[] = [list, drain, resume];

const printChanged = ({ nodes }: ChangedNodesView, what: string, none: string) =>
  print(nodes.length === 0 ? none : nodes.map((name) => `${name}: ${what}`).join("\n"));

const stateStyles = {
  running: style.green,
  draining: style.yellow,
  drained: style.yellow,
  silent: style.red,
  stopped: style.dim,
} as const;

const stateText = ({ state, is_draining: isDraining }: NodeView) =>
  stateStyles[state](state === "silent" && isDraining ? "silent, drained" : state);

/** With its two largest units: `3 d 4 h`, `12 min`. */
function durationText(seconds: number): string {
  const units = [
    { name: "d", size: 86_400 },
    { name: "h", size: 3_600 },
    { name: "min", size: 60 },
    { name: "s", size: 1 },
  ];
  const from = Math.max(
    0,
    units.findIndex(({ size }) => seconds >= size),
  );
  const shown = seconds < 1 ? units.slice(-1) : units.slice(from, from + 2);
  let left = seconds;
  const words = shown.map(({ name, size }) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return { count, name };
  });
  const [first, second] = words;
  const head = `${first?.count ?? 0} ${first?.name ?? "s"}`;
  return second === undefined || second.count === 0
    ? head
    : `${head} ${second.count} ${second.name}`;
}
