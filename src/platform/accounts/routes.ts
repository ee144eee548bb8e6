import { type Static, Type } from "typebox";
import { entryKinds } from "../../ledger/store.ts";
import { checkEmail, toEmail } from "../../people/people.ts";
import { type Context, operatorRoute, route } from "../context.ts";
import { fields, limitBody, limitFields, nullable, oneOf, says, text } from "../http/schemas.ts";
import { linkReply } from "../people/schemas.ts";
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
  changed: Type.Boolean({ description: "False when it was so already." }),
});

const newAccount = fields({
  name: Type.String({ pattern: accountName.pattern.source, ...says(accountName.words) }),
  ...limitFields,
  credit_usd: Type.Optional(amount),
  invite_owner: Type.Optional(
    Type.Boolean({ description: "Whether a link is made by which its owner can join." }),
  ),
  email: Type.Optional(text({ most: 254, about: "Whom the owner's link is for." })),
});

/** Who calls, with which balance; members see the balance of their own account, operators all the rest. */
export const accountRoutes = [
  forOperators("GET /api/accounts", {
    about: "All accounts; with what each has spent this month where it is asked for.",
    query: fields({ spend: Type.Optional(oneOf(["month"])) }),
    reply: Type.Array(listedReply),
    handle: (context, { query }) => listAccounts(context, query.spend === "month"),
  }),
  forOperators("POST /api/accounts", {
    about:
      "Creates an account, with limits, a first credit and a link for its owner where they are asked for; the link is shown this once, and only to a signed-in operator.",
    body: newAccount,
    reply: Type.Object({
      ...accountReply.properties,
      owner_link: nullable(linkReply),
      owner_link_note: nullable(
        Type.String({ description: "Why there is no link although one was asked for." }),
      ),
    }),
    handle: (context, { body }) => createAccount(context, body),
  }),
  route("GET /api/accounts/:account", {
    about: "What an account has and what it may use.",
    access: "viewer",
    area: "billing",
    reply: balanceReply,
    handle: ({ operations, account }) => operations.accounts.balance({ account: account.id }),
  }),
  forOperators("GET /api/accounts/:account/details", {
    about: "All that an operator looks at: balance, spend by day, model and key, keys, members.",
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
      "Puts money in or takes it out. A reference counts once: the same again changes nothing, and the reply says so.",
    body: fields({
      kind: oneOf(entryKinds),
      usd: amount,
      reference: Type.Optional(text({ most: 200, about: "Such as the number of an invoice." })),
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
    about: "Changes what an account may use; what is not named stays, `none` takes a limit away.",
    body: limitBody,
    reply: accountReply,
    handle: ({ operations, account }, { body }) =>
      operations.accounts.setLimits({ account: account.id, ...body }),
  }),
  forOperators("POST /api/accounts/:account/suspend", {
    about: "Refuses all calls of the account until it is resumed; calls under way go on.",
    reply: changedReply,
    handle: ({ operations, account }) => operations.accounts.suspend({ account: account.id }),
  }),
  forOperators("POST /api/accounts/:account/resume", {
    about: "Lets the keys of a suspended account call again.",
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
  "Only a signed-in operator can create the owner's link. The account was created without one; invite its owner on the console's page Members.";

/** All that can be wrong is looked at before the account is made. */
async function createAccount({ operations, actor }: Context, body: Static<typeof newAccount>) {
  const { credit_usd: usd, invite_owner: withOwner = false, email: given = "", ...rest } = body;
  const email = given === "" ? undefined : toEmail(given);
  if (email !== undefined) checkEmail(email);
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
  const wantsLink = withOwner || email !== undefined;
  const invited =
    wantsLink && actor?.kind === "person"
      ? await operations.members.invite({ account: made.id, role: "owner", email })
      : undefined;
  return {
    ...made,
    balance_usd: entry?.balance_usd ?? made.balance_usd,
    owner_link: invited ?? null,
    owner_link_note: wantsLink && invited === undefined ? noLinkForTokens : null,
  };
}
