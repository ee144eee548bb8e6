interface Waiting {
  readonly begin: () => void;
}

/**
 * One piece of work at a time. Owners who wait take turns, however much work each of them has, so
 * that nobody waits for all the work of another. What waits is bounded by what its callers may hold.
 */
export class FairTurns {
  /** Of each owner with waiting work, the oldest first; the owner whose turn is next comes first. */
  readonly #queues = new Map<string, Waiting[]>();
  #isBusy = false;

  /** Rejects with the reason of the signal if that is aborted before the work begins. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#isBusy) await this.#wait(owner, signal);
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      this.#remove(owner, waiting);
      reject(signal.reason);
    };
    const waiting: Waiting = {
      begin() {
        signal.removeEventListener("abort", onAbort);
        resolve();
      },
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const queue = this.#queues.get(owner);
    if (queue === undefined) this.#queues.set(owner, [waiting]);
    else queue.push(waiting);
    return promise;
  }

  #remove(owner: string, waiting: Waiting): void {
    const queue = this.#queues.get(owner);
    const at = queue?.indexOf(waiting) ?? -1;
    if (queue === undefined || at === -1) return;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(owner);
  }

  /** The turn goes straight to who is next, so that work that comes now cannot take it. */
  #next(): void {
    const [first] = this.#queues;
    if (first === undefined) {
      this.#isBusy = false;
      return;
    }
    const [owner, queue] = first;
    const waiting = queue.shift();
    this.#queues.delete(owner);
    if (queue.length > 0) this.#queues.set(owner, queue);
    waiting?.begin();
  }
}
