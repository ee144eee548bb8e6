import type { Reply } from "../../../api.ts";

export type Person = Reply<"GET /api/people">["people"][number];

export const nameOf = ({ name, email }: Pick<Person, "name" | "email">) =>
  name === "" ? email : name;
