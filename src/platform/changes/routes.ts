import type { Static } from "typebox";
import { Type } from "../../base/json/type.ts";
import { type Change, notesOf, readChanges } from "../../wire/changes.ts";
import { route } from "../context.ts";
import { oneOf } from "../http/schemas.ts";

const kinds = [
  "added",
  "changed",
  "fixed",
  "deprecated",
  "removed",
  "breaking",
] as const satisfies readonly Change["kind"][];

const changesReply = Type.Array(
  Type.Object({
    date: Type.String({ format: "date" }),
    version: Type.String({ description: "Major version of the gateway API, for example v1." }),
    kind: oneOf(kinds),
    what: Type.String(),
    notes: Type.Array(
      Type.Object({
        name: Type.String({ description: "For example `works until`." }),
        text: Type.String(),
      }),
    ),
  }),
);

/** The changelog of the gateway's API, for pages; /changelog.txt is the same as text. */
export const changeRoutes = [
  route("GET /api/changes", {
    about: "Lists changes of the gateway API, newest first.",
    access: "anyone",
    reply: changesReply,
    handle: async () => known(),
  }),
] as const;

let read: Static<typeof changesReply> | undefined;

/** Read once: it is part of the release, and the route is public. */
function known(): Static<typeof changesReply> {
  read ??= readChanges().map((entry) => ({
    date: entry.date,
    version: entry.version,
    kind: entry.kind,
    what: entry.what,
    notes: notesOf(entry).map(([name, text]) => ({ name, text })),
  }));
  return read;
}
