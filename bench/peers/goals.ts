/** The goals for the gateway, and how far it is from them. */
import { cell, type Spread } from "../gateway/report.ts";
import { addedTail, type Report, type Table } from "./tables.ts";

type Goal = {
  readonly what: string;
  readonly aim: string;
  readonly digits: number;
  readonly read: (report: Report) => Spread | undefined | string;
};

/** Of ours, in CPU per request or chunk. */
const ratio = (workload: string, under: string) => (report: Report) =>
  report.results.ratio(workload, ["svc", under]);

const single = (name: string) => (report: Report) => report.results.added("single", name, "p50Us");

const goals: readonly Goal[] = [
  { what: "CPU per request ÷ aisix", aim: "0.9", digits: 2, read: ratio("chat-1k", "aisix") },
  {
    what: "CPU per chunk ÷ aisix, 200 streams of 50",
    aim: "0.8",
    digits: 2,
    read: ratio("streams-200x50", "aisix"),
  },
  {
    what: "CPU per chunk ÷ aisix, 200 streams of 500",
    aim: "0.8",
    digits: 2,
    read: ratio("streams-200x500", "aisix"),
  },
  { what: "CPU per request ÷ bare", aim: "1.6", digits: 2, read: ratio("chat-1k", "bare") },
  {
    what: "CPU per chunk ÷ bare, 200 streams of 50",
    aim: "1",
    digits: 2,
    read: ratio("streams-200x50", "bare"),
  },
  {
    what: "CPU per chunk ÷ bare, 200 streams of 500",
    aim: "1",
    digits: 2,
    read: ratio("streams-200x500", "bare"),
  },
  {
    what: "added p50 over one connection, store in memory, µs",
    aim: "150",
    digits: 0,
    read: single("svc-memory"),
  },
  {
    what: "added p50 over one connection, store on disk, µs",
    aim: "",
    digits: 0,
    read: single("svc"),
  },
  {
    what: "time to first token added at half load, p50 / p99, µs",
    aim: "200 / 1,000",
    digits: 0,
    read: firstToken,
  },
  {
    what: "CPU per embeddings request as numbers ÷ bare",
    aim: "1.5",
    digits: 2,
    read: ratio("embeddings-float", "bare"),
  },
  {
    what: "CPU per embeddings request in base64 ÷ bare",
    aim: "1.5",
    digits: 2,
    read: ratio("embeddings-base64", "bare"),
  },
];

export function goalTable(report: Report): Table {
  const rows = goals.flatMap(({ what, aim, digits, read }) => {
    const value = read(report);
    if (value === undefined) return [];
    return [[what, typeof value === "string" ? value : cell(value, digits), aim]];
  });
  return { title: "Goals", rows: [["", "svc gateway", "goal: at most"], ...rows] };
}

function firstToken(report: Report): string | undefined {
  const ours = report.contenders.find(({ name }) => name === "svc");
  const tail = ours === undefined ? undefined : addedTail(report, "first-token", ours);
  return tail === undefined ? undefined : `${cell(tail.p50, 0)} / ${cell(tail.p99, 0)}`;
}
