import { defined } from "../../base/defined.ts";
import { toLinkReply } from "../../platform/people/views.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";

const invite = viewCommand({
  name: "operator invite",
  about: "Create an invitation link for another operator. It works once and expires after a week.",
  flags: {
    email: { about: "only this email address can use the link", value: "EMAIL" },
    mail: { about: "send the link to that address (SVC_SMTP_URL)" },
  },
  createsStore: true,
  examples: ["svc operator invite", "svc operator invite --email ada@example.com --mail"],
  load: async (operations, { flags: { email }, switches }) =>
    toLinkReply(
      await operations.operators.invite({ ...defined({ email }), mail: switches.has("mail") }),
    ),
  show: (view) => printLink(view, "become an operator"),
});

const reset = viewCommand({
  name: "operator reset",
  about:
    "Create a password reset link. It works once and expires after a day. Using it signs the person out everywhere else.",
  positionals: ["EMAIL"],
  flags: { mail: { about: "send the link to the user (SVC_SMTP_URL)" } },
  examples: ["svc operator reset ada@example.com", "svc operator reset ada@example.com --mail"],
  load: async (operations, { positionals: [email = ""], switches }) =>
    toLinkReply(await operations.people.resetPassword({ email, mail: switches.has("mail") })),
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
      return printHint("No operators yet. Invite the first one: svc operator invite");
    printTable(
      ["email", "name", "since"],
      operators.map(({ email, name, created_at }) => [email, name, created_at]),
    );
  },
});

export const operatorCommands: readonly Command[] = [invite, reset, resetFactors, disconnect, list];

function printLink(view: ReturnType<typeof toLinkReply>, what: string): void {
  const { link, mailed_to: to, mail_problem: problem, expires_at: until } = view;
  if (link === null) return print(`Sent the link to ${to}. It works once and expires at ${until}.`);
  if (problem !== null) print(style.yellow(`The email was not sent. ${problem}`));
  print(style.cyan(link));
  print(style.dim(`Open this link to ${what}. It works once and expires at ${until}.`));
}
