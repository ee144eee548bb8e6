import { idTimeMs } from "../base/ids.ts";
import type { KeyStore } from "./directory.ts";

/** Written in one turn of the event loop. */
const rowsAtOnce = 50;

/**
 * When keys were last used. What every request passes is a look into a map; the store is told in
 * bulk, about once a minute, and a crash loses no more than that.
 */
export class KeyUses {
  readonly #store: Pick<KeyStore, "lastUses" | "noteUses">;
  /** The newest request of each key that is not written yet; its id tells when it began. */
  #newest = new Map<string, string>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(store: Pick<KeyStore, "lastUses" | "noteUses">) {
    this.#store = store;
  }

  add(keyId: string, requestId: string): void {
    const known = this.#newest.get(keyId);
    // Long calls end after shorter ones that began later.
    if (known === undefined || known < requestId) this.#newest.set(keyId, requestId);
  }

  /** As it is written, and what came since. */
  async lastUses(): Promise<ReadonlyMap<string, number>> {
    // Before what is written: what a flush takes from here must not be missed in between.
    const recent = [...this.#newest];
    const uses = new Map(await this.#store.lastUses());
    for (const [keyId, requestId] of recent)
      uses.set(keyId, Math.max(uses.get(keyId) ?? 0, idTimeMs(requestId)));
    return uses;
  }

  /** One runs at a time; what could not be written is kept. */
  flush(): Promise<void> {
    const next = this.#flushing.then(() => this.#write());
    this.#flushing = next.catch(() => {});
    return next;
  }

  async #write(): Promise<void> {
    const rows = [...this.#newest];
    for (let written = 0; written < rows.length; written += rowsAtOnce) {
      const piece = rows.slice(written, written + rowsAtOnce);
      await this.#store.noteUses(
        new Map(piece.map(([keyId, requestId]) => [keyId, idTimeMs(requestId)])),
      );
      for (const [keyId, requestId] of piece)
        if (this.#newest.get(keyId) === requestId) this.#newest.delete(keyId);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
