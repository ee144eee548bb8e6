import type OpenAI from "openai";
import { waitUntil } from "./money-home.ts";

export async function chatOnce(client: OpenAI): Promise<void> {
  await client.chat.completions.create({
    model: "svc-3-flash",
    messages: [{ role: "user", content: "Hi" }],
  });
}

/** Four that chat without a pause, until they are ended or a call fails. */
export class Callers {
  served = 0;
  readonly #all: Promise<unknown>;
  #isOver = false;

  constructor(client: OpenAI) {
    this.#all = Promise.all(Array.from({ length: 4 }, () => this.#run(client)));
  }

  async #run(client: OpenAI): Promise<void> {
    while (!this.#isOver) {
      await chatOnce(client);
      this.served++;
    }
  }

  /** Until this many more calls are served. */
  async serve(count: number): Promise<void> {
    const wanted = this.served + count;
    const reached = waitUntil("calls to be served", () => this.served >= wanted);
    await Promise.race([reached, this.#all]);
  }

  /** How many calls were served; rejects if any has failed. */
  async end(): Promise<number> {
    this.#isOver = true;
    await this.#all;
    return this.served;
  }
}
