import { Type } from "../../base/json/type.ts";
import { accountRoles } from "../../people/role.ts";
import { inviteKinds } from "../../people/store.ts";
import { moment, nullable, oneOf, type View } from "../http/schemas.ts";

export const linkReply = Type.Object({
  id: Type.String(),
  link: nullable(
    Type.String({
      description: "Shown here only; null if it was mailed, and only the mail has it.",
    }),
  ),
  mailed_to: nullable(Type.String({ description: "Where the link was sent." })),
  mail_problem: nullable(
    Type.String({ description: "Why the link could not be mailed. Share it yourself." }),
  ),
  expires_at: moment(),
});
export const mailWish = Type.Optional(
  Type.Boolean({ description: "Whether to send the link to the email address." }),
);
export const mailQuery = Type.Optional(
  oneOf(["yes"], { description: "Sends the link to the user's email address." }),
);

const linkView = Type.Object({
  ...linkReply.properties,
  link: Type.String(),
  email: nullable(Type.String()),
});
/** A link that works once; shown here and never again. */
export type LinkView = View<typeof linkView>;

const named = { id: Type.String(), email: Type.String(), name: Type.String() };
const operatorView = Type.Object({ ...named, created_at: moment() });
export type OperatorView = View<typeof operatorView>;

/** A user with their accounts. */
export const user = Type.Object({
  ...named,
  is_operator: Type.Boolean(),
  accounts: Type.Array(
    Type.Object({ id: Type.String(), name: Type.String(), role: oneOf(accountRoles) }),
  ),
});

export const invitedReply = Type.Object({
  id: Type.String(),
  email: nullable(Type.String()),
  role: nullable(Type.String()),
  invited_by: Type.String(),
  expires_at: moment(),
});
export type InvitedView = View<typeof invitedReply>;

/** How a user can sign in. */
export const waysIn = {
  has_identity_factor: Type.Boolean({
    description:
      "The user can only sign in through the identity provider, whose sign-in counts as a second factor.",
  }),
  may_reset_password: Type.Boolean({
    description:
      "False: all rights of the user come from groups at the identity provider, so a password would not let them in.",
  }),
};

const person = Type.Object({
  ...user.properties,
  is_operator_by_identity: Type.Boolean({
    description: "Groups at the identity provider give the operator role.",
  }),
  created_at: moment(),
  has_second_factor: Type.Boolean(),
  ...waysIn,
  has_identity: Type.Boolean({ description: "Connected to a user of the identity provider." }),
  sessions: Type.Integer({ description: "Number of browsers in which the user is signed in." }),
  last_seen_at: nullable(moment("Last activity in a signed-in browser, to within five minutes.")),
});
export type PersonView = View<typeof person>;

export const peopleReply = Type.Object({
  people: Type.Array(person),
  invited: Type.Array(
    Type.Object({
      ...invitedReply.properties,
      kind: oneOf(inviteKinds),
      account: nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    }),
  ),
});
export type PeopleView = View<typeof peopleReply>;
