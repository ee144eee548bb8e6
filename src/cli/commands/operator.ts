import { defined } from "../../base/defined.ts";
import type { LinkView } from "../../platform/people/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printTable, style } from "../terminal/output.ts";

const invite = viewCommand({
  name: "operator invite",
  about: "Create an invitation link for another operator. It works once and expires after a week.",
  flags: { email: { about: "only this email address can use the link", value: "EMAIL" } },
  examples: ["svc operator invite", "svc operator invite --email ada@example.com"],
  load: (operations, { flags: { email } }) => operations.operators.invite(defined({ email })),
  show: (view) => printLink(view, "become an operator"),
});

const reset = viewCommand({
  name: "operator reset",
  about:
    "Create a password reset link. It works once and expires after a day. Using it signs the person out everywhere else.",
  positionals: ["EMAIL"],
  examples: ["svc operator reset ada@example.com"],
  load: (operations, { positionals: [email = ""] }) => operations.people.resetPassword({ email }),
  show: (view) => printLink(view, "choose a new password"),
});

const resetFactors = viewCommand({
  name: "operator reset-factors",
  about:
    "Remove the authenticator app, the passkeys and the recovery codes of a user who has lost them. The user is signed out everywhere, and signs in with the password alone until a new second factor is set up.",
  positionals: ["EMAIL"],
  examples: ["svc operator reset-factors ada@example.com"],
  load: (operations, { positionals: [email = ""] }) => operations.factors.reset({ email }),
  show: ({ email }) =>
    print(`${email} has no second factor any more and is signed out everywhere.`),
});

const disconnect = viewCommand({
  name: "operator disconnect",
  about:
    "Disconnect a user from the identity provider. The rights that groups gave end, and so do the sessions that the provider began.",
  positionals: ["EMAIL"],
  examples: ["svc operator disconnect ada@example.com"],
  load: (operations, { positionals: [email = ""] }) => operations.identities.disconnect({ email }),
  show: ({ email }) => print(`${email} is not connected to an identity provider any more.`),
});

const list = viewCommand({
  name: "operator list",
  about: "List the operators.",
  examples: ["svc operator list", "svc operator list --json"],
  load: (operations) => operations.operators.list({}),
  show(operators) {
    if (operators.length === 0)
      return print("No operators yet. Invite the first one: svc operator invite");
    printTable(
      ["email", "name", "since"],
      operators.map(({ email, name, created_at }) => [email, name, created_at]),
    );
  },
});

export const operatorCommands: readonly Command[] = [invite, reset, resetFactors, disconnect, list];

function printLink(view: LinkView, what: string): void {
  print(style.cyan(view.link));
  print(style.dim(`Open this link to ${what}. It works once and expires at ${view.expires_at}.`));
}
