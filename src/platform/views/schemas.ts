import { Type } from "../../base/json/type.ts";
import { viewPages } from "../../people/preferences.ts";
import { moment, nullable, oneOf, type View } from "../http/schemas.ts";

export const savedViewReply = Type.Object({
  id: Type.String(),
  page: oneOf(viewPages),
  account: nullable(Type.String({ description: "Account that the view shows; null for all." })),
  name: Type.String(),
  search: Type.String({ description: "Filters, as the query of the page's address." }),
  created_at: moment(),
});
export type SavedViewView = View<typeof savedViewReply>;
