import type { Db } from "../../src/store/sql/schema.ts";
import type { SharedStore } from "../../src/store/store.ts";

/** A fresh database with its store, and its tables to look into. */
export interface OpenTables {
  readonly db: Db;
  readonly store: SharedStore;
  remove(): Promise<void>;
}

export type CreateTables = () => Promise<OpenTables>;
