import { Type } from "../../base/json/type.ts";
import { operatorRoute } from "../context.ts";
import { fields, text } from "../http/schemas.ts";
import { accountNames } from "../input/values.ts";
import { withSpending } from "./routes.ts";
import { listedReply } from "./schemas.ts";

const mostKeys = 500;

const keyOfAccount = Type.Object({
  ...listedReply.properties,
  account_name: Type.String(),
});

/** Keys of all accounts, for operators. */
export const allKeyRoutes = [
  operatorRoute("keys")("GET /api/keys", {
    about: `Lists the keys of all accounts, newest first; at most ${mostKeys}.`,
    query: fields({
      find: Type.Optional(
        text({
          most: 100,
          about: "Part of the key's name, id or masked secret, its creator or its account.",
        }),
      ),
    }),
    reply: Type.Object({
      keys: Type.Array(keyOfAccount),
      total: Type.Integer({ description: "Keys that match, including those not listed." }),
    }),
    async handle(context, { query }) {
      const { operations, dependencies } = context;
      const [records, names] = await Promise.all([
        dependencies.keys.all(),
        accountNames(dependencies.accounts),
      ]);
      const wanted = (query.find ?? "").trim().toLowerCase();
      const found = records
        .filter(({ name, id, hint, accountId, createdBy = "" }) =>
          `${name} ${id} ${hint} ${names.get(accountId)} ${accountId} ${createdBy}`
            .toLowerCase()
            .includes(wanted),
        )
        .toReversed();
      // Much belongs to a view: only those that are listed get one.
      const ids = found.slice(0, mostKeys).map(({ id }) => id);
      const listed = await withSpending(context, await operations.keys.list({ ids }));
      return {
        keys: listed.map((key) => ({
          ...key,
          account_name: names.get(key.account) ?? key.account,
        })),
        total: found.length,
      };
    },
  }),
] as const;
