import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** A layers model as TensorFlow.js stores it: one JSON file, and the weights cut into shards. */
export interface TfjsModel {
  readonly layers: readonly TfjsLayer[];
  readonly weight: (name: string) => TfjsWeight;
}

export interface TfjsLayer {
  readonly kind: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
}

export interface TfjsWeight {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

interface ModelJson {
  readonly modelTopology: {
    readonly model_config: { readonly config: { readonly layers: readonly LayerJson[] } };
  };
  readonly weightsManifest: readonly {
    readonly paths: readonly string[];
    readonly weights: readonly {
      readonly name: string;
      readonly shape: readonly number[];
      readonly dtype: string;
    }[];
  }[];
}

interface LayerJson {
  readonly class_name: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly inbound_nodes: readonly (readonly (readonly [string, ...unknown[]])[])[];
}

export async function readTfjs(dir: string): Promise<TfjsModel> {
  // The file was checked against a pinned hash, so its shape is known.
  const json = JSON.parse(await readFile(join(dir, "model.json"), "utf8")) as ModelJson;
  const weights = new Map<string, TfjsWeight>();
  for (const group of json.weightsManifest) {
    const shards = await Promise.all(group.paths.map((path) => readFile(join(dir, path))));
    const bytes = Buffer.concat(shards);
    let offset = 0;
    for (const { name, shape, dtype } of group.weights) {
      if (dtype !== "float32") throw new Error(`weight ${name} is ${dtype}, not float32`);
      const length = shape.reduce((product, size) => product * size, 1);
      // Copied, because a float array must start at a multiple of four bytes.
      const data = new Float32Array(
        new Uint8Array(bytes.subarray(offset, offset + length * 4)).buffer,
      );
      if (data.length !== length) throw new Error(`weight ${name} is truncated`);
      weights.set(name, { shape, data });
      offset += length * 4;
    }
  }
  return {
    layers: json.modelTopology.model_config.config.layers.map((layer) => ({
      kind: layer.class_name,
      name: layer.name,
      inputs: (layer.inbound_nodes[0] ?? []).map(([name]) => name),
      config: layer.config,
    })),
    weight: (name) => {
      const weight = weights.get(name);
      if (!weight) throw new Error(`weight ${name} is missing`);
      return weight;
    },
  };
}
