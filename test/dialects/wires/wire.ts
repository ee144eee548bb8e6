/** How one vendor speaks one format: what it answers, and how a request to it reads. */

import type { Dialect as VendorDialect } from "../../providers/dialect.ts";

export type Wire = Pick<
  VendorDialect,
  "name" | "model" | "can" | "whole" | "streamed" | "asked" | "error" | "fault" | "beside"
>;
