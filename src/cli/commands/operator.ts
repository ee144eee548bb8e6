import type { LinkView } from "../../platform/people/schemas.ts";
import { type Command, jsonFlag } from "../command.ts";
import { print, printJson, printTable, style } from "../terminal/output.ts";

const invite: Command = {
  name: "operator invite",
  about: "Makes a link by which one more person becomes an operator. It works once, for a week.",
  flags: { email: { about: "for this address only", value: "EMAIL" }, ...jsonFlag },
  examples: ["svc operator invite", "svc operator invite --email ada@example.com"],
  async run({ flags: { email }, switches, wiring }) {
    const view = await wiring.withOperations((operations) =>
      operations.operators.invite(email === undefined ? {} : { email }),
    );
    printLink(view, switches.has("json"), "becomes an operator");
  },
};

const reset: Command = {
  name: "operator reset",
  about:
    "Makes a link by which somebody who has forgotten a password chooses a new one. It works once, for a day; using it signs them out everywhere else.",
  positionals: ["EMAIL"],
  flags: jsonFlag,
  examples: ["svc operator reset ada@example.com"],
  async run({ positionals: [email = ""], switches, wiring }) {
    const view = await wiring.withOperations((operations) =>
      operations.people.resetPassword({ email }),
    );
    printLink(view, switches.has("json"), "chooses a new password");
  },
};

const list: Command = {
  name: "operator list",
  about: "Lists the operators.",
  flags: jsonFlag,
  examples: ["svc operator list", "svc operator list --json"],
  async run({ switches, wiring }) {
    const operators = await wiring.withOperations((operations) => operations.operators.list({}));
    if (switches.has("json")) return printJson(operators);
    if (operators.length === 0)
      return print("No operators yet. Make a link for the first one: svc operator invite");
    printTable(
      ["email", "name", "since"],
      operators.map(({ email, name, created_at }) => [email, name, created_at]),
    );
  },
};

export const operatorCommands: readonly Command[] = [invite, reset, list];

function printLink(view: LinkView, isJson: boolean, what: string): void {
  if (isJson) return printJson(view);
  print(style.cyan(view.link));
  print(style.dim(`Whoever opens it ${what}. It works once, until ${view.expires_at}.`));
}
