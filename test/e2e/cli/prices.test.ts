import { beforeEach, describe, expect, test } from "bun:test";
import type { BulkView } from "../../../src/platform/prices/schemas.ts";
import { standardManifest } from "../../setup/harness.ts";
import { type Refused, refusal, refusesAll } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";

type Prices = Readonly<Record<string, string>>;

interface Row {
  readonly model: string;
  readonly version: number | null;
  readonly price: Prices | null;
  readonly effective_at: string | null;
  readonly in_force: boolean;
}

interface Place {
  readonly model: string;
  readonly route: string | null;
}

interface Imported {
  readonly set: readonly (Place & { readonly price: Prices; readonly source: string })[];
  readonly left: readonly (Place & { readonly reason: string })[];
  readonly unknown: readonly (Place & { readonly reason: string })[];
  readonly notes: readonly (Place & { readonly note: string })[];
  readonly applied: boolean;
}

const home = useHome();

/** Entries of the store, which commands can change. */
const put = async (stdin: string) => await home.ok("apply -", { stdin });
const price = <T>(line: string) => home.json<T>(`price ${line}`);
const versions = async (line: string) =>
  (await price<readonly Row[]>(`list svc-3-flash${line}`)).map(({ version, in_force }) => [
    version,
    in_force,
  ]);

describe("prices", () => {
  beforeEach(async () => {
    await put(standardManifest.replaceAll("UPSTREAM", "https://vendor.example/v1"));
  });

  test("of several models are set together, or not at all", async () => {
    const set = await price<BulkView>("set svc-3-flash vendor/with-slash --input 3 --output 4");
    expect(set).toEqual({
      changes: [
        {
          model: "svc-3-flash",
          before: { input: "0.30", cached_input: "0.03", output: "2.50" },
          after: { input: "3.00", output: "4.00" },
        },
        {
          model: "vendor/with-slash",
          before: { input: "1.00", output: "1.00" },
          after: { input: "3.00", output: "4.00" },
        },
      ],
      skipped: [],
      applied: true,
    });
    const tried = await home.svc("price set svc-3-flash unpriced --free --dry-run");
    expect(tried.stdout).toContain("2 models to price. Nothing was changed (--dry-run).");
    expect(
      await home.svc("price set svc-3-flash svc-embedding-2 --input 5 --output 6"),
    ).toMatchObject(refusal(2, "svc-embedding-2"));
    expect(await home.svc("price set svc-3-flash unpriced --free --markup 20")).toMatchObject(
      refusal(2, "or --markup, or --free"),
    );
    expect(await versions("")).toEqual([[2, true]]);
  });

  test("are versions: each is in force from its moment on, and --at tells which", async () => {
    const set = await price<Row>("set svc-3-flash --input 0.25 --output 2.000000001");
    expect(set).toEqual({
      model: "svc-3-flash",
      version: 2,
      // The price of cached input is not taken over from the version before.
      price: { input: "0.25", output: "2.000000001" },
      effective_at: expect.stringMatching(/^\d{4}-.*Z$/),
      in_force: true,
    });
    const ahead = await price<Row>("set svc-3-flash --input 0 --output 0 --from 2999-01-31");
    expect(ahead).toMatchObject({
      version: 3,
      price: { input: "0.00", output: "0.00" },
      effective_at: "2999-01-31T00:00:00Z",
      in_force: false,
    });
    expect(await versions("")).toEqual([
      [2, true],
      [3, false],
    ]);
    expect(await versions(" --at 2999-01-30T23:59:59Z")).toEqual([[2, true]]);
    expect(await versions(" --at 2999-01-31")).toEqual([[3, true]]);
    expect(await versions(" --at 2001-01-01")).toEqual([[1, true]]);
    expect(await versions(" --history")).toEqual([
      [1, false],
      [2, true],
      [3, false],
    ]);
    const text = (await home.svc("price list svc-3-flash --history")).stdout;
    expect(text).toMatch(/replaced\n.*active\n.*scheduled\n/);
  });

  test("of images and seconds keep fifteen digits", async () => {
    const row = await price<Row>(
      "set multimodal-embedding-1 --image 0.000000000000001 --video-second 0.0005",
    );
    expect(row.price).toEqual({ image: "0.000000000000001", video_second: "0.0005" });
  });

  test("that are wrong are refused by the name of their flag", async () => {
    const cases: readonly Refused[] = [
      ["set svc-3-flash --input 1", 2, "--output: svc-3-flash needs a price for output"],
      ["set svc-2.5-pro-tts --input 1", 2, "--audio-output: svc-2.5-pro-tts needs a price for"],
      [
        "set svc-3-flash --input 1 --output 2 --image 1 --audio-output 3",
        2,
        "svc-3-flash is not billed for audio output or image. Its price classes are input, output, cached input and cache write.",
      ],
      ["set svc-3-flash --input 10001 --output 1", 2, "--input: The price must be at most 10000"],
      ["set svc-3-flash --input 1 --output 0.0000000001", 2, "at most 9 decimal places"],
      ["set svc-3-flash --input 1 --output 1 --from 2001-01-01", 2, "--from: The date must be in"],
      ["set none --input 1 --output 1", 3, 'Unknown model "none"'],
      ["list none", 3, 'Unknown model "none"'],
      ["list --at soon", 2, "--at: The date must be a day"],
      ["import none", 3, 'Unknown model "none"'],
      ["import --markup lots", 2, "--markup: Markup must be a percentage"],
    ];
    await refusesAll((line) => home.svc(`price ${line}`), cases);
    expect(await versions(" --history")).toEqual([[1, true]]);
  });
});

describe("an import of public prices", () => {
  const manifest = `
providers:
  openai: { kind: openai, base_url: "https://api.openai.com/v1", api_key: "\${FAKE_KEY}" }
models:
  small: { endpoint: chat, max_output_tokens: 64, routes: [{ provider: openai, model: gpt-4o-mini }] }
  priced: { endpoint: chat, max_output_tokens: 64, price: { input: 7, output: 8 }, routes: [{ provider: openai, model: gpt-4o-mini, cost: { input: 1, output: 2 } }, { provider: openai, model: gpt-4o }] }
  vectors: { endpoint: embeddings, input: text, routes: [{ provider: openai, model: text-embedding-3-small }] }
  ours: { endpoint: chat, max_output_tokens: 64, routes: [{ provider: openai, model: our-own-finetune-7 }] }
  bare: { endpoint: chat, max_output_tokens: 64, price: { input: 1, output: 1 } }
`;
  const names = (rows: readonly Place[]) => rows.map(({ model, route }) => [model, route]);
  const priceOf = (view: Imported, model: string, route: string | null) =>
    view.set.find((row) => row.model === model && row.route === route)?.price ?? {};

  beforeEach(async () => {
    await put(manifest);
  });

  test("sets what is lacking, and tells what it left and what it does not know, each by name", async () => {
    const view = await price<Imported>("import");
    expect(names(view.set)).toEqual([
      ["priced", "openai/gpt-4o"],
      ["small", "openai/gpt-4o-mini"],
      ["small", null],
      ["vectors", "openai/text-embedding-3-small"],
      ["vectors", null],
    ]);
    expect(names(view.left)).toEqual([
      ["bare", null],
      ["priced", "openai/gpt-4o-mini"],
      ["priced", null],
    ]);
    expect(names(view.unknown)).toEqual([
      ["ours", "openai/our-own-finetune-7"],
      ["ours", null],
    ]);
    expect(view.applied).toBe(true);
    const small = priceOf(view, "small", null);
    expect(small).toEqual(priceOf(view, "small", "openai/gpt-4o-mini"));
    expect(Object.keys(small)).toEqual(["input", "cached_input", "output"]);
    expect(Object.keys(priceOf(view, "vectors", null))).toEqual(["input"]);
    const [row] = await price<readonly Row[]>("list small");
    expect(row).toMatchObject({ price: small, in_force: true });
    const { stdout } = await home.svc("export");
    expect(stdout).toMatch(/gpt-4o\n[^]*cost:/);
    expect((await price<Imported>("import")).applied).toBe(false);
  });

  test("changes nothing in a dry run, and what is there only when told to replace it", async () => {
    const before = (await home.svc("export")).stdout;
    const shown = await home.svc("price import --dry-run");
    expect(shown.stdout).toContain(
      "= price of priced: already has a price; use --replace to overwrite it\n",
    );
    const dry = await price<Imported>("import --replace --dry-run");
    expect(names(dry.set)).toContainEqual(["priced", null]);
    expect(dry.applied).toBe(false);
    expect((await home.svc("price import --dry-run")).stdout).toContain(
      "Nothing was changed (--dry-run)",
    );
    expect((await home.svc("export")).stdout).toBe(before);

    const replaced = await price<Imported>("import priced --replace");
    expect(names(replaced.set)).toEqual([
      ["priced", "openai/gpt-4o-mini"],
      ["priced", "openai/gpt-4o"],
      ["priced", null],
    ]);
    expect(replaced.set.map(({ source }) => source)).toEqual([
      "openai/gpt-4o-mini",
      "openai/gpt-4o",
      "openai/gpt-4o-mini",
    ]);
    const again = await price<Imported>("import priced --replace");
    expect([again.set, again.applied, again.left.length]).toEqual([[], false, 3]);
    expect((await price<readonly Row[]>("list priced --history")).length).toBe(2);
  });
});
