import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { leaksIn } from "./campaign.ts";
import { ensurePython } from "./python.ts";
import { startFuzzTarget } from "./target.ts";

/** Runs schemathesis, which makes requests from the OpenAPI document and judges replies by it. */

/**
 * Left out on purpose: positive_data_acceptance, because not all that the contract asks can be said
 * in a schema (which form of `input` a model takes, an assistant's content beside tool_calls, what a
 * data URI holds); negative_data_rejection, because it breaks one branch of a union and takes what
 * another branch allows for wrong (`[0.0]` as `input`), while our own cases are judged whole, by the
 * same schemas; missing_required_header, because the only header the document requires is the key,
 * which ignored_auth leaves out and breaks.
 */
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "unsupported_method",
  "allow_header_conformance",
  "ignored_auth",
];

/** Ids that the gateway under test serves: made-up ones would never get past the model. */
const modelsOf: Readonly<Record<string, readonly string[]>> = {
  ChatCompletionRequest: ["svc-3-flash", "svc-2-flash", "vendor/with-slash"],
  EmbeddingRequest: ["svc-embedding-2", "multimodal-embedding-1"],
  SpeechRequest: ["svc-2.5-flash-tts", "svc-2.5-pro-tts"],
};

export interface SchemathesisOptions {
  /** The project's folder. */
  readonly root: string;
  /** How many cases it must make at least. */
  readonly cases: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

export interface SchemathesisResult {
  readonly version: string;
  readonly casesRun: number;
  readonly operations: number;
  /** Replies of 2xx to requests that the document calls valid, by operation. */
  readonly accepted: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
  readonly residentBytesAtEnd: number;
}

export async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisResult> {
  const { root, tell } = options;
  const folder = join(root, ".fuzz");
  mkdirSync(folder, { recursive: true });
  const home = join(folder, "venv");
  await ensurePython({ home, requirements: join(import.meta.dir, "requirements.txt"), tell });
  const program = join(home, "bin", "schemathesis");
  const documentPath = join(folder, "openapi.json");
  const reportPath = join(folder, "schemathesis.json");
  rmSync(reportPath, { force: true });
  const document: unknown = JSON.parse(readFileSync(join(root, "docs", "openapi.json"), "utf8"));
  writeFileSync(documentPath, JSON.stringify(forThisGateway(document)));
  const target = await startFuzzTarget();
  try {
    const words = [
      ["--no-color", "run", documentPath, "--url", `${target.origin}/v1`],
      ["--header", `Authorization: Bearer ${target.key}`],
      ["--checks", checks.join(",")],
      ["--max-examples", String(examplesFor(options.cases))],
      ["--seed", String(options.seed), "--generation-database", "none"],
      ["--request-timeout", "10", "--suppress-health-check", "all"],
      ["--report", "json", "--report-json-path", reportPath],
    ].flat();
    tell(`schemathesis: at least ${options.cases} cases; it thinks for some minutes`);
    const child = Bun.spawn([program, ...words], {
      cwd: folder,
      stdin: "ignore",
      stdout: 2,
      stderr: 2,
      timeout: runWithinMs,
    });
    const code = await child.exited;
    const report = readReport(reportPath);
    const problems = problemsOf({ report, code, wantedCases: options.cases });
    for (const secret of leaksIn(target.log(), target.key))
      problems.push(`the log holds a secret: ${secret === target.key ? "the key" : secret}`);
    for (const problem of new Set(target.upstreamProblems)) problems.push(`upstream: ${problem}`);
    return {
      version: report?.schemathesis_version ?? "unknown",
      casesRun: report?.test_cases.generated ?? 0,
      operations: report?.operations.tested ?? 0,
      accepted: report === undefined ? {} : acceptedBy(report),
      problems,
      residentBytesAtEnd: await target.residentBytes(),
    };
  } finally {
    await target.stop();
  }
}

const runWithinMs = 3_600_000;

/** Three operations take a body; what the other phases add comes on top. */
const examplesFor = (cases: number) => Math.ceil(cases / 3);

/**
 * The document as schemathesis can use it against this one gateway: its models by name, and the
 * events of a stream in the form in which schemathesis looks at them.
 */
export function forThisGateway(document: unknown): unknown {
  const copy = structuredClone(document) as OpenApi;
  for (const [name, models] of Object.entries(modelsOf)) {
    const model = copy.components.schemas[name]?.properties["model"];
    if (model === undefined) throw new Error(`the document has no ${name} with a model`);
    model["enum"] = models;
  }
  const events =
    copy.paths["/chat/completions"]?.["post"]?.responses["200"]?.content["text/event-stream"];
  if (events === undefined) throw new Error("the document has no event stream");
  events["schema"] = eventSchema(events["schema"]);
  return copy;
}

/** An event is `data` alone: a chunk as JSON, or the word that ends the stream. */
function eventSchema(chunk: unknown): unknown {
  const json = { type: "string", contentMediaType: "application/json", contentSchema: chunk };
  return {
    type: "object",
    required: ["data"],
    properties: { data: { anyOf: [{ type: "string", enum: ["[DONE]"] }, json] } },
  };
}

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, RequestSchema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, Record<string, unknown>>> }>
  >;
}

interface RequestSchema {
  readonly properties: Readonly<Record<string, Record<string, unknown>>>;
}

interface Report {
  readonly schemathesis_version: string;
  readonly complete: boolean;
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number; readonly errored: number };
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
  readonly valid_rates: Readonly<Record<string, Readonly<Record<string, { accepted: number }>>>>;
}

function readReport(path: string): Report | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Report) : undefined;
}

function acceptedBy(report: Report): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(report.valid_rates).map(([operation, phases]) => [
      operation,
      Object.values(phases).reduce((sum, { accepted }) => sum + accepted, 0),
    ]),
  );
}

/** Its exit code alone would also be 0 for a run that made too few cases, or none that was served. */
export function problemsOf(options: {
  readonly report: Report | undefined;
  readonly code: number;
  readonly wantedCases: number;
}): string[] {
  const { report, code, wantedCases } = options;
  if (report === undefined) return [`schemathesis ended with ${code} and left no report`];
  const problems = report.failures.map(
    ({ title, operations }) => `${title}: ${operations.join(", ")}`,
  );
  const { generated, errored } = report.test_cases;
  if (generated < wantedCases) problems.push(`${generated} cases, not ${wantedCases}, were run`);
  if (errored > 0 || report.errors.length > 0) problems.push("schemathesis met errors of its own");
  if (!report.complete) problems.push("the run is not complete");
  if (report.operations.tested < report.operations.total)
    problems.push(
      `${report.operations.tested} of ${report.operations.total} operations were tried`,
    );
  for (const [operation, accepted] of Object.entries(acceptedBy(report)))
    if (accepted === 0) problems.push(`no valid request to ${operation} was served`);
  if (code !== 0 && problems.length === 0) problems.push(`schemathesis ended with ${code}`);
  return problems;
}
