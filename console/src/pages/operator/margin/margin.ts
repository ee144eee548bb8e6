import type { Reply } from "../../../api.ts";

export type Margin = Reply<"GET /api/margin">;
export type MarginRow = Margin["total"];
export type Group = "model" | "account" | "provider";

export const groups: readonly { readonly value: Group; readonly label: string }[] = [
  { value: "model", label: "Model" },
  { value: "account", label: "Account" },
  { value: "provider", label: "Provider" },
];

export const toGroup = (text: string | undefined): Group =>
  groups.find(({ value }) => value === text)?.value ?? "model";
