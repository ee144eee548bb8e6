/**
 * An address at which nobody ever takes a connection: a listener that was stopped, and whose queue
 * is full, so that the kernel lets every further attempt wait.
 */

import { connect, type Socket } from "node:net";

export interface DeafListener {
  readonly port: number;
  stop(): Promise<void>;
}

const script = `
require("node:net").createServer(() => {}).listen({ port: 0, host: "127.0.0.1" }, function () {
  console.log(this.address().port);
});`;
/** On this machine a connection takes far less, unless the queue is full. */
const patienceMs = 500;
const mostQueued = 10_000;

export async function startDeafListener(): Promise<DeafListener> {
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const reader = child.stdout.getReader();
  const port = Number(new TextDecoder().decode((await reader.read()).value));
  child.kill("SIGSTOP");
  const queued: Socket[] = [];
  const isTaken = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true));
      socket.on("error", () => {});
      queued.push(socket);
      setTimeout(() => resolve(false), patienceMs);
    });
  while (await isTaken())
    if (queued.length > mostQueued) throw new Error("the queue does not fill up");
  return {
    port,
    async stop() {
      for (const socket of queued) socket.destroy();
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
