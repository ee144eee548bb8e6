import { Problem } from "../../base/problem.ts";

export interface FairQueueLimits {
  /** Of one actor at the same time. */
  readonly maxRunning: number;
  /** Of one actor, besides those. */
  readonly maxWaiting: number;
}

interface ActorQueue {
  running: number;
  /** The longest waiting first. */
  readonly waiting: (() => void)[];
}

/**
 * Limits how much of a shared resource one actor uses at a time: further work of the same actor
 * waits in a queue of its own and is refused when that is full.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** Only of actors with work in flight. */
  readonly #queues = new Map<string, ActorQueue>();

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  async run<T>(actor: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(actor) ?? { running: 0, waiting: [] };
    this.#queues.set(actor, queue);
    if (queue.running < this.#limits.maxRunning) queue.running++;
    else await this.#wait(queue);
    try {
      return await work();
    } finally {
      this.#leave(actor, queue);
    }
  }

  #wait({ waiting }: ActorQueue): Promise<void> {
    if (waiting.length >= this.#limits.maxWaiting)
      throw new Problem({
        code: "busy",
        message: "Too many reports are running. Try again when one has finished.",
      });
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    return promise;
  }

  /** The place goes straight to the next in the queue, so that work that comes now cannot take it. */
  #leave(actor: string, queue: ActorQueue): void {
    const next = queue.waiting.shift();
    if (next !== undefined) return next();
    queue.running--;
    if (queue.running === 0) this.#queues.delete(actor);
  }
}
