/** Packages that ship no types, or point to types they do not ship: what is used of them, and no more. */
declare module "onnxruntime-node" {
  export { InferenceSession, Tensor } from "onnxruntime-common";
}

declare module "phonemize/en-g2p" {
  export class EnglishG2P {
    constructor();
    /** IPA of one word; `null` when it has nothing to say. */
    predict(word: string, language?: string, pos?: string): string | null;
  }
}

declare module "@npmcli/config" {
  interface ConfigOptions {
    readonly npmPath: string;
    readonly definitions: object;
    readonly shorthands: object;
    readonly flatten: unknown;
    readonly argv: readonly string[];
    /** Written to while loading. */
    readonly env: Record<string, string | undefined>;
    readonly cwd: string;
    readonly execPath: string;
  }

  class Config {
    constructor(options: ConfigOptions);
    load(): Promise<void>;
    readonly flat: Readonly<Record<string, unknown>>;
  }
  export = Config;
}

declare module "@npmcli/config/lib/definitions" {
  export const definitions: object;
  export const shorthands: object;
  export const flatten: unknown;
}

declare module "npm-registry-fetch" {
  function registryFetch(
    url: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<registryFetch.Reply>;

  namespace registryFetch {
    interface Reply {
      readonly status: number;
      readonly headers: { get(name: string): string | null };
      readonly body: Body;
      json(): Promise<unknown>;
    }

    interface Body {
      on(event: "data", listener: (chunk: Uint8Array) => void): void;
      on(event: "end", listener: () => void): void;
      on(event: "error", listener: (error: Error) => void): void;
    }

    function pickRegistry(spec: string, options: Readonly<Record<string, unknown>>): string;
  }
  export = registryFetch;
}
