/** Ports for servers that must be given one, and the wait until they listen. */
import type { Child } from "./processes.ts";

/** Free when asked; a server takes it a moment later, and a loss of that race ends the bench. */
export function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

export type ListeningOptions = {
  readonly child: Child;
  readonly port: number;
  readonly timeoutMs: number;
};

/** A server that knows nothing of the bench cannot announce itself, so its port is tried. */
export async function listening({ child, port, timeoutMs }: ListeningOptions): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs) {
    if (child.ended)
      throw new Error(`${child.name} ended instead of listening\n${child.lastWords()}`);
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      socket.end();
      return;
    } catch {
      await Bun.sleep(50);
    }
  }
  throw new Error(`${child.name} did not listen within ${timeoutMs} ms\n${child.lastWords()}`);
}
