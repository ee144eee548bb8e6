/**
 * The kernel chooses a process once per connection, by a hash. Callers keep their connections for
 * long, so a process that got too many gives some back.
 */
export class EndedConnections {
  #left = 0;

  expect(count: number): void {
    this.#left = count;
  }

  endSome(response: Promise<Response> | Response): Promise<Response> | Response {
    if (this.#left === 0) return response;
    return response instanceof Promise
      ? response.then((settled) => this.#end(settled))
      : this.#end(response);
  }

  #end(response: Response): Response {
    if (this.#left === 0) return response;
    this.#left--;
    response.headers.set("connection", "close");
    return response;
  }
}
