/**
 * The thread that measures: it calls each address over a connection of its own, again and again,
 * and keeps the longest round trip. It does nothing else, so that no work of the driver delays it.
 *
 * A stall is what a round trip took without the time in which the event loop's thread, or this one,
 * waited for a processor: a busy machine must not look like a busy process.
 */
import { connect, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { loopTimes, ownTimes } from "./process-figures.ts";

export interface ProberOptions {
  readonly pid: number;
  readonly origins: readonly string[];
}

/** Of one address, since the last question. */
export interface Rounds {
  readonly count: number;
  readonly medianMs: number;
  readonly longestMs: number;
  /** The longest, without waiting for a processor. */
  readonly stallMs: number;
  /** Most processor time of the event loop's thread in one round: other processes do not change it. */
  readonly loopMs: number;
}

const pauseMs = 2;
const againMs = 50;
const maxRounds = 100_000;

class Line {
  readonly #pid: number;
  readonly #url: URL;
  #socket: Socket | undefined;
  #walls: number[] = [];
  #stallMs = 0;
  #loopMs = 0;
  #rounds = 0;

  constructor(pid: number, origin: string) {
    this.#pid = pid;
    this.#url = new URL(origin);
  }

  async run(): Promise<never> {
    for (;;) {
      const isAnswered = await this.#round();
      await Bun.sleep(isAnswered ? pauseMs : againMs);
    }
  }

  /** Waits for a round that begins from now on: one that is in flight may be the stall itself. */
  async take(): Promise<Rounds> {
    const enough = this.#rounds + 2;
    while (this.#rounds < enough) await Bun.sleep(pauseMs);
    const walls = this.#walls.toSorted((a, b) => a - b);
    const rounds: Rounds = {
      count: walls.length,
      medianMs: walls[Math.floor(walls.length / 2)] ?? 0,
      longestMs: walls.at(-1) ?? 0,
      stallMs: this.#stallMs,
      loopMs: this.#loopMs,
    };
    this.#walls = [];
    this.#stallMs = 0;
    this.#loopMs = 0;
    return rounds;
  }

  async #round(): Promise<boolean> {
    const before = { loop: loopTimes(this.#pid), own: ownTimes(), atMs: performance.now() };
    const isAnswered = await this.#ask();
    if (!isAnswered) return false;
    const wallMs = performance.now() - before.atMs;
    const loop = loopTimes(this.#pid);
    const own = ownTimes();
    const waitedMs =
      (loop?.waitedMs ?? 0) -
      (before.loop?.waitedMs ?? 0) +
      (own?.waitedMs ?? 0) -
      (before.own?.waitedMs ?? 0);
    const busyMs = (loop?.busyMs ?? 0) - (before.loop?.busyMs ?? 0);
    // The two may have waited at the same time; what the loop was busy for is certain.
    const stallMs = Math.max(Math.min(busyMs, wallMs), wallMs - waitedMs);
    if (this.#walls.length < maxRounds) this.#walls.push(wallMs);
    this.#stallMs = Math.max(this.#stallMs, stallMs);
    this.#loopMs = Math.max(this.#loopMs, busyMs);
    this.#rounds++;
    return true;
  }

  /** False when the connection could not be made, or broke. */
  #ask(): Promise<boolean> {
    const { hostname, port, host } = this.#url;
    this.#socket ??= connect({ host: hostname, port: Number(port), noDelay: true });
    const socket = this.#socket;
    return new Promise((resolve) => {
      const over = (isAnswered: boolean) => {
        socket.removeAllListeners();
        if (!isAnswered) {
          socket.on("error", () => {});
          socket.destroy();
          this.#socket = undefined;
        }
        resolve(isAnswered);
      };
      // The reply is a few hundred bytes: it comes in one piece.
      socket.once("data", () => over(true));
      socket.once("error", () => over(false));
      socket.once("close", () => over(false));
      socket.write(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    });
  }
}

const { pid, origins } = workerData as ProberOptions;
const lines = origins.map((origin) => new Line(pid, origin));
for (const line of lines) void line.run();
parentPort?.on("message", () => {
  void Promise.all(lines.map((line) => line.take())).then((rounds) =>
    parentPort?.postMessage(rounds, []),
  );
});
