import type { Recording } from "../../fake/recordings.ts";
import type { AgentTools } from "./conversation.ts";
import type { Vendor } from "./vendors/vendor.ts";

/** The environment variable with the folder that `installAgents` has put them into. */
export const agentsFolder = "SVC_AGENTS_DIR";

/** A program that people run in a terminal, with tools of its own. */
export interface Agent {
  /** Its package, which is also the name of its suite. */
  readonly client: string;
  readonly dialect: "chat" | "responses" | "messages";
  /** What `svc connect` calls it, which writes its settings into this file below its home. */
  readonly connect: { readonly tool: string; readonly file: string };
  /** A setting that it needs beside the address, the key and the model. */
  readonly setting?: string;
  readonly scenarios: readonly Scenario[];
  /** Tools of its own that the conversation uses; `model` is what the agent takes it for. */
  readonly tools: (model: string) => AgentTools;
  readonly start: (options: StartOptions) => Start;
  /** Its session ends with the refusal of a full context, and it compacts when it is resumed. */
  readonly endsWhenRefused?: boolean;
  /** What it prints about its work. */
  readonly read: (stdout: string) => AgentReport;
}

export interface Scenario {
  readonly vendor: Vendor;
  /** The name of the model at the gateway. Agents know some names, and behave differently with them. */
  readonly model: string;
  /** What is special about it, for the names of its checks. */
  readonly remark?: string;
  /** The context is full in mid-task: the vendor refuses it, or its usage nears the model's window. */
  readonly full?: (() => Recording) | "counted";
}

export interface StartOptions {
  readonly key: string;
  readonly prompt: string;
  /** It takes up the session that ended last. */
  readonly isResumed: boolean;
  /** A folder of its own for settings and history. */
  readonly home: string;
}

export interface Start {
  /** The program by its name in node_modules/.bin, and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
}

export interface AgentReport {
  readonly lastWords: string;
  /** Sums over the whole task, as far as it counts them. */
  readonly usage: Readonly<Record<string, number>>;
}

const parts = {
  work: "edits the file, runs the command and ends well",
  history: "the vendor gets its tool calls, their results and signatures back unchanged",
  receipts: "each call has a receipt with its dialect, its tokens and its exact cost",
  usage: "the agent counts the tokens that were billed",
  compaction: "a full context is compacted, and the task goes on to its end",
} as const;

export type ScenarioPart = keyof typeof parts;

const usualParts: readonly ScenarioPart[] = ["work", "history", "receipts", "usage"];
const partsOf = ({ full }: Scenario) => (full === undefined ? usualParts : ["compaction" as const]);

export function nameOf({ setting }: Agent, { vendor, remark }: Scenario, part: ScenarioPart) {
  const notes = [setting, remark].filter((note) => note !== undefined);
  return `on ${vendor.title}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}: ${parts[part]}`;
}

/** The names of all checks of an agent, in their order. */
export function checkNames(agent: Agent): readonly string[] {
  return agent.scenarios.flatMap((scenario) =>
    partsOf(scenario).map((part) => nameOf(agent, scenario, part)),
  );
}
