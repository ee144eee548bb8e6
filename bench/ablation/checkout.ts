/**
 * The product's modules of a checkout, this one or another, and how single classes and functions of
 * them are replaced. What is to be replaced must be there: a renamed method must not become a part
 * that costs nothing.
 */
import { mock } from "bun:test";
import { join } from "node:path";

type Replacement<T> = { readonly [K in keyof T]?: (this: T, ...args: never[]) => unknown };

export class Checkout {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** The caller names the type: that of the same file in this checkout. */
  load<Module>(path: string): Promise<Module> {
    return import(join(this.#root, path));
  }

  /** Puts others in the place of some of a module's exports, for all who import it. */
  async replaceExports<Module extends object>(
    path: string,
    make: (real: Module) => Partial<Record<keyof Module, unknown>>,
  ): Promise<void> {
    // A copy: what is replaced below is replaced in the module itself.
    const real = { ...(await this.load<Module>(path)) };
    const made = make(real);
    for (const name of Object.keys(made))
      if (!Object.hasOwn(real, name)) throw new Error(`${path} has no export ${name}`);
    await mock.module(join(this.#root, path), () => ({ ...real, ...made }));
  }
}

export function replaceMethods<T extends object>(
  { name: className, prototype }: { readonly name: string; readonly prototype: T },
  methods: Replacement<T>,
): void {
  for (const [name, method] of Object.entries(methods)) {
    if (typeof Object.getOwnPropertyDescriptor(prototype, name)?.value !== "function")
      throw new Error(`${className} has no method ${name}`);
    Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
  }
}
