import type { Static } from "typebox";
import { Type } from "../../base/json/type.ts";
import { invalid } from "../../base/problem.ts";
import { entryKinds } from "../../ledger/store.ts";
import { checkEmail, toEmail } from "../../people/people.ts";
import { type Context, operatorRoute, route } from "../context.ts";
import { fields, limitBody, limitFields, nullable, oneOf, says, text } from "../http/schemas.ts";
import { noPost } from "../mail/post.ts";
import { linkReply, mailWish } from "../people/schemas.ts";
import { toLinkReply } from "../people/views.ts";
import { accountName } from "./operations.ts";
import {
  accountReply,
  amount,
  balanceReply,
  detailsReply,
  entryReply,
  listedReply,
} from "./schemas.ts";

const forOperators = operatorRoute("accounts");

const changedReply = Type.Object({
  ...accountReply.properties,
  changed: Type.Boolean({ description: "False if the account already had this status." }),
});

const newAccount = fields({
  name: Type.String({ pattern: accountName.pattern.source, ...says(accountName.words) }),
  ...limitFields,
  credit_usd: Type.Optional(amount),
  invite_owner: Type.Optional(
    Type.Boolean({ description: "Whether to create an invitation link for the owner." }),
  ),
  email: Type.Optional(text({ most: 254, about: "Email address of the owner." })),
  mail: mailWish,
});

/** An address alone asks for it, too. */
const wantsLink = ({ invite_owner: withOwner, email = "" }: Static<typeof newAccount>) =>
  withOwner === true || email !== "";

/** Who calls, with which balance; members see the balance of their own account, operators all the rest. */
export const accountRoutes = [
  forOperators("GET /api/accounts", {
    about: "Lists all accounts, optionally with the spend of this month.",
    query: fields({ spend: Type.Optional(oneOf(["month"])) }),
    reply: Type.Array(listedReply),
    handle: (context, { query }) => listAccounts(context, query.spend === "month"),
  }),
  forOperators("POST /api/accounts", {
    about:
      "Creates an account, optionally with limits, a first credit and an invitation link for its owner. The link is shown only once, and only to a signed-in operator.",
    needsRecentFor: { when: "`invite_owner` or `email` asks for a link", applies: wantsLink },
    body: newAccount,
    reply: Type.Object({
      ...accountReply.properties,
      owner_link: nullable(linkReply),
      owner_link_note: nullable(
        Type.String({ description: "Why the requested link was not created." }),
      ),
    }),
    handle: (context, { body }) => createAccount(context, body),
  }),
  route("GET /api/accounts/:account", {
    about: "Shows the balance and the limits of an account.",
    access: "viewer",
    area: "billing",
    reply: balanceReply,
    handle: ({ operations, account }) => operations.accounts.balance({ account: account.id }),
  }),
  forOperators("GET /api/accounts/:account/details", {
    about: "Shows an account in full: balance, spend by day, model and key, keys, members.",
    reply: detailsReply,
    async handle({ operations, account }) {
      const of = { account: account.id };
      const details = await operations.accounts.show(of);
      const { members } = await operations.members.list(of);
      return { ...details, ...details.spend, members };
    },
  }),
  forOperators("POST /api/accounts/:account/entries", {
    about:
      "Adds or withdraws money. Idempotent by reference: if the reference exists, nothing changes and `repeated` is true.",
    body: fields({
      kind: oneOf(entryKinds),
      usd: amount,
      reference: Type.Optional(text({ most: 200, about: "For example an invoice number." })),
      note: Type.Optional(text({ most: 500 })),
    }),
    reply: entryReply,
    handle: ({ operations, account }, { body: { kind, usd, reference = "", note = "" } }) =>
      operations.entries.add({
        account: account.id,
        kind,
        usd,
        note,
        reference: reference === "" ? undefined : reference,
      }),
  }),
  forOperators("PATCH /api/accounts/:account/limits", {
    about: "Changes the limits of an account. Omitted limits stay; `none` removes a limit.",
    body: limitBody,
    reply: accountReply,
    handle: ({ operations, account }, { body }) =>
      operations.accounts.setLimits({ account: account.id, ...body }),
  }),
  forOperators("PATCH /api/accounts/:account/retention", {
    about:
      "Changes for how many days the receipts of an account are kept. Older ones are deleted within a day; balances and daily sums stay.",
    body: fields({
      days: text({
        most: 6,
        about: "A number of days, or `none` to keep them for as long as those of all accounts.",
      }),
    }),
    reply: accountReply,
    handle: ({ operations, account }, { body }) =>
      operations.accounts.setRetention({ account: account.id, ...body }),
  }),
  forOperators("POST /api/accounts/:account/suspend", {
    about:
      "Suspends an account: new calls are rejected until it is resumed. Calls in flight continue.",
    reply: changedReply,
    handle: ({ operations, account }) => operations.accounts.suspend({ account: account.id }),
  }),
  forOperators("POST /api/accounts/:account/resume", {
    about: "Resumes a suspended account.",
    reply: changedReply,
    handle: ({ operations, account }) => operations.accounts.resume({ account: account.id }),
  }),
] as const;

async function listAccounts({ operations }: Context, withSpend: boolean) {
  const accounts = await operations.accounts.list({});
  if (!withSpend) return accounts.map((view) => ({ ...view, spent_month_usd: null }));
  const { rows } = await operations.reports.margin({ by: "account" });
  // No two accounts have the same name.
  const spent = new Map(rows.map(({ name, charged_usd }) => [name, charged_usd]));
  return accounts.map((view) => ({
    ...view,
    spent_month_usd: spent.get(view.name) ?? "0.00",
  }));
}

const noLinkForTokens =
  "Only a signed-in operator can create the owner's invitation link. The account was created without one; invite the owner on the Members page of the console.";

/** All that can be wrong is looked at before the account is made. */
async function createAccount(context: Context, body: Static<typeof newAccount>) {
  const { operations, actor } = context;
  const { credit_usd: usd, invite_owner: _, email: given = "", mail, ...rest } = body;
  const email = given === "" ? undefined : toEmail(given);
  if (email !== undefined) checkEmail(email);
  // Before there is an account.
  if (mail === true && email === undefined)
    throw invalid({ email: "Enter the email address that the link is sent to." });
  if (mail === true && !context.dependencies.sendsMail) throw noPost();
  const made = await operations.accounts.create(rest);
  const entry =
    usd === undefined
      ? undefined
      : await operations.entries.add({
          account: made.id,
          kind: "credit",
          usd,
          note: "First credit",
        });
  const isWanted = wantsLink(body);
  const invited =
    isWanted && actor?.kind === "person"
      ? await operations.members.invite({ account: made.id, role: "owner", email, mail })
      : undefined;
  return {
    ...made,
    balance_usd: entry?.balance_usd ?? made.balance_usd,
    owner_link: invited === undefined ? null : toLinkReply(invited),
    owner_link_note: isWanted && invited === undefined ? noLinkForTokens : null,
  };
}
