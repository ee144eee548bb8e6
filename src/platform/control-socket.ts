import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { ownUid, socketPath } from "../base/network/listen.ts";
import { Problem } from "../base/problem.ts";
import type { Operations } from "./operations.ts";

/**
 * The way in which commands reach a running server: a unix socket in the data directory, which
 * only its owner can enter. One POST per operation.
 */
type Answer =
  | { readonly result: unknown }
  | {
      readonly problem: Pick<Problem, "code" | "message"> &
        Partial<Pick<Problem, "field" | "command">>;
    };

export function controlPath(dataDir: string): string {
  return socketPath(dataDir, "control.sock");
}

export function startControl(dataDir: string, operations: Operations): { close(): Promise<void> } {
  const path = controlPath(dataDir);
  const folder = join(path, "..");
  if (folder !== dataDir) mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(folder).uid !== ownUid())
    throw new Problem({ code: "failed", message: `Directory ${folder} belongs to another user.` });
  // Only the holder of the lock comes here: a socket that is there was left by a dead process.
  // Under its own name first: Bun removes that name when the server stops, even if it is another file.
  const ownPath = join(folder, `c${process.pid}`);
  rmSync(ownPath, { force: true });
  const server = Bun.serve({
    unix: ownPath,
    fetch: async (request) => Response.json(await answer(request, operations)),
    error: () =>
      Response.json({ problem: { code: "failed", message: "The server failed to respond." } }),
  });
  chmodSync(ownPath, 0o600);
  renameSync(ownPath, path);
  const { ino } = statSync(path);
  return {
    async close() {
      // It may be the socket of a process that has taken this data directory over.
      const isOurs = statSync(path, { throwIfNoEntry: false })?.ino === ino;
      await server.stop(true);
      if (!isOurs) return;
      rmSync(path, { force: true });
      // The engine's socket may still be in it.
      if (folder !== dataDir && readdirSync(folder).length === 0) rmdirSync(folder);
    },
  };
}

async function answer(request: Request, operations: Operations): Promise<Answer> {
  const name = new URL(request.url).pathname.slice(1);
  try {
    const operation = findOperation(operations, name);
    if (operation === undefined)
      throw new Problem({
        code: "failed",
        message: `The running server does not support "${name}" because it is a different version. Restart it.`,
      });
    return { result: await operation(await request.json()) };
  } catch (error) {
    if (error instanceof Problem) {
      const { code, message, field, command } = error;
      return { problem: { code, message, field, command } };
    }
    return { problem: { code: "failed", message: String(error) } };
  }
}

type Operation = (input: unknown) => Promise<unknown>;

/** By a path such as `keys/create`. */
function findOperation(operations: Operations, path: string): Operation | undefined {
  const [resource = "", name = "", ...rest] = path.split("/");
  if (rest.length > 0 || !Object.hasOwn(operations, resource)) return undefined;
  const methods = operations[resource as keyof Operations] as unknown as Record<string, Operation>;
  return Object.hasOwn(methods, name) ? methods[name] : undefined;
}

/** The operations of the server that owns the data directory, or undefined when none runs. */
export async function connectControl(
  dataDir: string,
): Promise<{ readonly operations: Operations } | undefined> {
  const path = controlPath(dataDir);
  if (!existsSync(path)) return undefined;
  const ask = async (name: string, input: unknown): Promise<unknown> => {
    const response = await fetch(`http://localhost/${name}`, {
      unix: path,
      method: "POST",
      body: JSON.stringify(input),
    });
    const said = (await response.json()) as Answer;
    if ("problem" in said) throw new Problem(said.problem);
    return said.result;
  };
  try {
    await ask("gateway/ping", {});
  } catch (error) {
    if (error instanceof Problem) throw error;
    return undefined;
  }
  const resourceOf = (resource: string) =>
    new Proxy(
      {},
      { get: (_, name) => (input: unknown) => ask(`${resource}/${String(name)}`, input) },
    );
  // In an object of its own: a promise that resolves to the proxy would ask it for a `then`.
  return {
    operations: new Proxy({} as Operations, { get: (_, name) => resourceOf(String(name)) }),
  };
}
