import { Database } from "bun:sqlite";
import { parentPort } from "node:worker_threads";

/** Copies what the write-ahead log holds into the database, on a thread and connection of its own. */
let database: Database | undefined;

parentPort?.on("message", (message: { readonly path: string } | "close") => {
  parentPort?.postMessage(message === "close" ? close() : checkpoint(message.path), []);
});

function checkpoint(path: string): unknown {
  try {
    database ??= new Database(path, { readwrite: true });
    // Passive: it waits for nobody, and nobody waits for it.
    return database.query("PRAGMA wal_checkpoint(PASSIVE)").get();
  } catch (error) {
    return { error: String(error) };
  }
}

function close(): string {
  database?.close();
  return "closed";
}
