import { Type } from "../../base/json/type.ts";
import { fields, moment, nullable, text, type View } from "../http/schemas.ts";

const record = Type.Object({
  id: Type.String(),
  at: moment(),
  actor_kind: Type.String({
    description: "person, operator, token or command (the command line).",
  }),
  actor: Type.String({ description: "Name of the actor at that time." }),
  account: nullable(Type.String()),
  account_name: nullable(Type.String({ description: "Current name of the account." })),
  action: Type.String({ description: "For example key.create." }),
  subject: Type.String({ description: "Id or name of the changed object." }),
  detail: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: "object",
    description: "What was set. `before` holds the earlier values, under the same names.",
  }),
  address: Type.String(),
});
export type AuditRow = View<typeof record>;

export const pageReply = Type.Object({
  records: Type.Array(record),
  after: nullable(
    Type.String({
      description:
        "Cursor for the next page; null on the last page. A page may be empty and not the last.",
    }),
  ),
});

export const filters = {
  action: Type.Optional(text({ most: 60, about: "For example key.create." })),
  actor: Type.Optional(text({ most: 100, about: "Part of the name of the actor." })),
  subject: Type.Optional(text({ most: 200, about: "Part of the name of the changed object." })),
  search: Type.Optional(
    text({ most: 200, about: "Part of the actor, the action, the object or the detail." }),
  ),
  from: Type.Optional(text({ most: 40, about: "Day or time in UTC." })),
  to: Type.Optional(text({ most: 40, about: "Day or time in UTC; exclusive." })),
};
export const accountFilter = {
  account: Type.Optional(text({ most: 60, about: "Account id." })),
};
const paging = {
  after: Type.Optional(text({ most: 60 })),
};
export const accountQuery = fields({ ...filters, ...paging });
export const operatorQuery = fields({ ...filters, ...accountFilter, ...paging });
