import { defined } from "../../base/defined.ts";
import type { LinkView } from "../../platform/people/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printTable, style } from "../terminal/output.ts";

const invite = viewCommand({
  name: "operator invite",
  about: "Makes a link by which one more person becomes an operator. It works once, for a week.",
  flags: { email: { about: "for this address only", value: "EMAIL" } },
  examples: ["svc operator invite", "svc operator invite --email ada@example.com"],
  load: (operations, { flags: { email } }) => operations.operators.invite(defined({ email })),
  show: (view) => printLink(view, "becomes an operator"),
});

const reset = viewCommand({
  name: "operator reset",
  about:
    "Makes a link by which somebody who has forgotten a password chooses a new one. It works once, for a day; using it signs them out everywhere else.",
  positionals: ["EMAIL"],
  examples: ["svc operator reset ada@example.com"],
  load: (operations, { positionals: [email = ""] }) => operations.people.resetPassword({ email }),
  show: (view) => printLink(view, "chooses a new password"),
});

const list = viewCommand({
  name: "operator list",
  about: "Lists the operators.",
  examples: ["svc operator list", "svc operator list --json"],
  load: (operations) => operations.operators.list({}),
  show(operators) {
    if (operators.length === 0)
      return print("No operators yet. Make a link for the first one: svc operator invite");
    printTable(
      ["email", "name", "since"],
      operators.map(({ email, name, created_at }) => [email, name, created_at]),
    );
  },
});

export const operatorCommands: readonly Command[] = [invite, reset, list];

function printLink(view: LinkView, what: string): void {
  print(style.cyan(view.link));
  print(style.dim(`Whoever opens it ${what}. It works once, until ${view.expires_at}.`));
}
