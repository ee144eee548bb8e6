import { type Command, viewCommand } from "../command.ts";
import { print, style } from "../terminal/output.ts";

const mib = 1024 * 1024;

/** `12 responses, 3.4 MiB`. */
export function storedText({
  responses,
  bytes,
}: {
  readonly responses: number;
  readonly bytes: number;
}): string {
  const count = responses.toLocaleString("en-US");
  return `${count} ${responses === 1 ? "response" : "responses"}, ${(bytes / mib).toFixed(1)} MiB`;
}

const purge = viewCommand({
  name: "responses purge",
  about:
    "Delete all stored responses of an account. svc account show shows their number and size. Conversations that depend on them can no longer be continued.",
  flags: { account: { about: "id or name of the account", value: "ID", required: true } },
  examples: ["svc responses purge --account acme", "svc responses purge --account acme --json"],
  load: (operations, { flags: { account = "" } }) => operations.responses.purge({ account }),
  show(view) {
    if (view.responses === 0) return print("No responses are stored.");
    print(`${style.green("deleted")} ${storedText(view)}`);
  },
});

export const responseCommands: readonly Command[] = [purge];
