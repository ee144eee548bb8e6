import { Database } from "bun:sqlite";
import { parentPort } from "node:worker_threads";

/** Copies a database as of one moment, on a thread and connection of its own. */
parentPort?.once("message", ({ path, to }: { readonly path: string; readonly to: string }) => {
  parentPort?.postMessage(copy(path, to), []);
});

function copy(path: string, to: string): { readonly error?: string; readonly code?: string } {
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true, create: false });
    database.run("PRAGMA busy_timeout = 5000");
    database.query("VACUUM INTO ?").run(to);
    return {};
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { error: String(error), code };
  } finally {
    database?.close();
  }
}
