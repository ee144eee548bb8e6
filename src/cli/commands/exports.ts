import type { ExportStreamView, ExportView } from "../../platform/exports/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";

const name = ["NAME"] as const;

const list = viewCommand({
  name: "exports",
  about: "List the exports of receipts and audit records: where they go and how far they are.",
  examples: ["svc exports", "svc exports --json"],
  load: (operations) => operations.exports.list({}),
  show({ exports }) {
    if (exports.length === 0)
      return printHint("No exports. Add one: svc exports add NAME --to file:///var/exports");
    printTable(
      ["name", "state", "to", "stream", "exported to", "rows", "lag"],
      exports.flatMap((one) =>
        one.streams.map((stream) => [
          one.name,
          stateText(one),
          one.to,
          stream.stream,
          exportedTo(one, stream),
          stream.rows,
          stream.lag_s === 0 ? null : `${stream.lag_s} s`,
        ]),
      ),
    );
  },
});

const add = viewCommand({
  name: "exports add",
  about:
    "Export receipts and audit records to a directory, an HTTP endpoint or a bucket, hour by hour, for as long as the gateway runs. An hour is exported when no call of it can end any more.",
  positionals: name,
  flags: {
    to: {
      about: "where to: file:///DIR, https://HOST/PATH or s3://BUCKET/PREFIX",
      value: "URL",
      required: true,
    },
    what: { about: "receipts, audit or receipts,audit (default: both)", value: "STREAMS" },
    format: {
      about: "jsonl (default) or, for directories and buckets, parquet",
      value: "FORMAT",
      choices: ["jsonl", "parquet"],
    },
    from: {
      about:
        "only what began in or after the hour of this date (UTC) or time (default: everything)",
      value: "DATE",
    },
    "no-test": {
      about: "add a directory that is not there or not writable yet, or is on another machine",
    },
    "allow-private": { about: "allow a private or loopback address, and http://" },
    authorization: { about: "HTTP: where the Authorization header is", value: "REF" },
    "sign-with": { about: "HTTP: where the key of the signature is", value: "REF" },
    endpoint: { about: "S3: the address (default: Amazon's in the region)", value: "URL" },
    region: { about: "S3: the region (default: us-east-1)", value: "REGION" },
    "access-key-id": { about: "S3 (default: env:AWS_ACCESS_KEY_ID)", value: "REF" },
    "secret-access-key": { about: "S3 (default: env:AWS_SECRET_ACCESS_KEY)", value: "REF" },
    "session-token": { about: "S3: of temporary keys", value: "REF" },
  },
  more: () => [
    "A directory must exist and be writable for the gateway. It is not created, so that the disk",
    "below is not filled while a volume is not mounted.",
    "REF is env:NAME or file:/path, in the environment or on the machine of the gateway.",
    "A secret itself is never an argument, because other users of the machine could see it.",
  ],
  createsStore: true,
  examples: [
    "svc exports add archive --to file:///var/exports",
    "svc exports add billing --to https://billing.example/usage --sign-with file:/etc/svc/export-key",
    "svc exports add lake --to s3://acme-lake/svc --region eu-central-1",
    "svc exports add minio --to s3://svc/prod --endpoint http://10.0.0.5:9000 --allow-private",
    "svc exports add archive --to file:///var/exports --what receipts --from 2027-01-01 --json",
  ],
  load: (operations, { positionals: [given = ""], flags, switches }) =>
    operations.exports.add({
      name: given,
      to: flags["to"] ?? "",
      what: flags["what"],
      format: flags["format"],
      from: flags["from"],
      skip_test: switches.has("no-test") ? true : undefined,
      allow_private: switches.has("allow-private") ? true : undefined,
      authorization: flags["authorization"],
      sign_with: flags["sign-with"],
      endpoint: flags["endpoint"],
      region: flags["region"],
      access_key_id: flags["access-key-id"],
      secret_access_key: flags["secret-access-key"],
      session_token: flags["session-token"],
    }),
  show(view) {
    print(`${style.green("added")} ${view.name}`);
    printHint(`Check it: svc exports test ${view.name}`);
  },
});

const show = viewCommand({
  name: "exports show",
  about: "Show an export: how far each stream is, and why the last attempt failed.",
  positionals: name,
  examples: ["svc exports show warehouse", "svc exports show warehouse --json"],
  load: (operations, { positionals: [given = ""] }) => operations.exports.show({ name: given }),
  show: printExport,
});

const test = viewCommand({
  name: "exports test",
  about: "Write or send something without rows, to see whether an export works.",
  positionals: name,
  examples: ["svc exports test warehouse"],
  load: (operations, { positionals: [given = ""] }) => operations.exports.test({ name: given }),
  show: ({ name: tested, to }) => print(`${style.green("ok")} ${tested}: ${to}`),
});

const run = viewCommand({
  name: "exports run",
  about:
    "Export what is due now, without waiting for the next attempt. It stops after a minute; the gateway goes on with the rest.",
  positionals: name,
  examples: ["svc exports run warehouse", "svc exports run warehouse --json"],
  load: (operations, { positionals: [given = ""] }) => operations.exports.run({ name: given }),
  show({ rows, export: view }) {
    print(`${style.green("exported")} ${rows} rows`);
    printExport(view);
  },
});

const pause = viewCommand({
  name: "exports pause",
  about: "Pause an export. It continues where it was when it is resumed.",
  positionals: name,
  examples: ["svc exports pause warehouse"],
  load: (operations, { positionals: [given = ""] }) => operations.exports.pause({ name: given }),
  show: ({ name: paused }) => print(`${style.green("paused")} ${paused}`),
});

const resume = viewCommand({
  name: "exports resume",
  about:
    "Resume an export that was paused. If it was not paused, a directory that lacks its marker gets it again.",
  positionals: name,
  examples: ["svc exports resume warehouse"],
  load: (operations, { positionals: [given = ""] }) => operations.exports.resume({ name: given }),
  show: ({ name: resumed }) => print(`${style.green("resumed")} ${resumed}`),
});

const remove = viewCommand({
  name: "exports remove",
  about:
    "Remove an export. What it has delivered stays; added again, it starts from the beginning.",
  positionals: name,
  examples: ["svc exports remove warehouse"],
  load: (operations, { positionals: [given = ""] }) => operations.exports.remove({ name: given }),
  show: ({ name: removed }) => print(`${style.green("removed")} ${removed}`),
});

export const exportsCommands: readonly Command[] = [
  list,
  add,
  show,
  test,
  run,
  pause,
  resume,
  remove,
];

const stateStyles = { running: style.green, paused: style.yellow, failing: style.red } as const;
const stateText = ({ state }: ExportView) => stateStyles[state](state);

const exportedTo = ({ from }: ExportView, { exported_to: to, rows }: ExportStreamView) =>
  rows === 0 && to === (from ?? "1970-01-01T00:00:00Z") ? null : to;

function printExport(view: ExportView): void {
  const facts: readonly (readonly [string, string])[] = [
    ["state", stateText(view)],
    ["to", view.to],
    ["format", view.format],
    ["from", view.from ?? "everything that is kept"],
    ...Object.entries(view.settings).map(([key, value]) => [key, String(value)] as const),
  ];
  for (const [key, value] of facts) print(`${style.dim(`${key}:`)} ${value}`);
  for (const stream of view.streams) {
    print(
      `${stream.stream}: ${stream.rows} rows, exported to ${exportedTo(view, stream) ?? "nothing yet"}${stream.lag_s === 0 ? "" : `, ${stream.lag_s} s behind`}`,
    );
    if (stream.ahead_s > 0)
      print(
        `  ${style.yellow(`its position is ${stream.ahead_s} s in the future, because the clock was ahead or is behind now`)}`,
      );
    if (stream.failure !== null)
      print(`  ${style.red(stream.failure)}; next attempt at ${stream.retry_at ?? "once"}`);
  }
}
