import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { mantineStyles } from "./mantine-styles.ts";

export interface Manifest {
  /** Names under assets/, each with its sizes. */
  readonly files: Readonly<Record<string, Sizes>>;
  /** What a first visit fetches to see a page, after compression. */
  readonly firstLoad: Readonly<Record<string, { bytes: number; files: readonly string[] }>>;
}

interface Sizes {
  readonly bytes: number;
  readonly br: number;
  readonly gz: number;
}

type Output = { readonly imports: readonly { readonly path: string; readonly kind: string }[] };

interface BundleOptions {
  /** The console's own folder. */
  readonly root: string;
  /** Where the files go. */
  readonly folder: string;
}

/** What is opened first: by a visitor, and by one who has signed in. */
const firstPages = {
  "sign-in": ["pages/sign-in/page.tsx"],
  overview: ["shell/frame.tsx", "pages/overview/page.tsx"],
};

export async function bundle({ root, folder }: BundleOptions): Promise<Manifest> {
  const assets = join(folder, "assets");
  mkdirSync(assets, { recursive: true });
  const built = await Bun.build({
    entrypoints: [join(root, "src", "main.tsx"), join(root, "src", "scheme.ts")],
    root,
    target: "browser",
    splitting: true,
    minify: true,
    metafile: true,
    define: { "process.env.NODE_ENV": '"production"' },
    naming: { entry: "[name]-[hash].[ext]", chunk: "part-[hash].[ext]" },
  });
  const scripts = new Map<string, string>();
  const sheets: string[] = [];
  for (const output of built.outputs) {
    const name = basename(output.path);
    if (name.endsWith(".js")) scripts.set(name, await output.text());
    else sheets.push(await output.text());
  }
  const icon = readFileSync(join(root, "src", "icon.svg"), "utf8").trim();
  // The entry's stylesheet is the longest: it has what every page asks for, and theirs repeat it.
  const [styles = ""] = sheets.toSorted((one, other) => other.length - one.length);
  const sheet = `${mantineStyles([...scripts.values()])}${styles}`;
  const names = { styles: hashed("styles", "css", sheet), icon: hashed("icon", "svg", icon) };
  for (const [name, text] of [...scripts, [names.styles, sheet], [names.icon, icon]] as const)
    writeFileSync(join(assets, name), text);
  const entries = built.outputs.filter(({ kind }) => kind === "entry-point");
  const entry = (start: string) =>
    basename(entries.find(({ path }) => basename(path).startsWith(`${start}-`))?.path ?? "");
  const html = readFileSync(join(root, "index.html"), "utf8")
    .replace("{{main}}", `/assets/${entry("main")}`)
    .replace("{{scheme}}", `/assets/${entry("scheme")}`)
    .replace("{{styles}}", `/assets/${names.styles}`)
    .replace("{{icon}}", `/assets/${names.icon}`);
  writeFileSync(join(folder, "index.html"), html);
  const files = await compress(assets);
  const firstLoad = Object.fromEntries(
    Object.entries(firstPages).map(([page, loaded]) => {
      const outputs = built.metafile?.outputs ?? {};
      const chunks = neededBy({ entry: entry("main"), loaded, outputs });
      const all = [...chunks, entry("scheme"), names.styles, names.icon];
      const bytes = all.reduce((sum, name) => sum + (files[name]?.br ?? 0), html.length);
      return [page, { bytes, files: all }];
    }),
  );
  const manifest = { files, firstLoad };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return manifest;
}

function hashed(name: string, extension: string, text: string): string {
  return `${name}-${Bun.hash(text).toString(36)}.${extension}`;
}

/** The entry, what it loads for a page, and what these import at once. */
function neededBy(options: {
  readonly entry: string;
  readonly loaded: readonly string[];
  readonly outputs: Readonly<Record<string, Output & { entryPoint?: string | undefined }>>;
}): readonly string[] {
  const outputs = new Map(
    Object.entries(options.outputs).map(([path, output]) => [basename(path), output]),
  );
  const isLoaded = (source: string) => options.loaded.some((path) => source.endsWith(`/${path}`));
  const own = [...outputs].flatMap(([name, { entryPoint = "" }]) =>
    name.endsWith(".js") && isLoaded(entryPoint) ? [name] : [],
  );
  const needed = new Set<string>();
  const add = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    for (const { path, kind } of outputs.get(name)?.imports ?? [])
      if (kind !== "dynamic-import" && path.endsWith(".js")) add(basename(path));
  };
  for (const name of [options.entry, ...own]) add(name);
  return [...needed];
}

/** Once, here, so that serving is only reading a file. */
async function compress(assets: string): Promise<Record<string, Sizes>> {
  const toBrotli = promisify(brotliCompress);
  const toGzip = promisify(gzip);
  const sizes = await Promise.all(
    readdirSync(assets).map(async (name): Promise<[string, Sizes]> => {
      const path = join(assets, name);
      const content = readFileSync(path);
      const br = await toBrotli(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 9,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        },
      });
      const gz = await toGzip(content, { level: 9 });
      writeFileSync(`${path}.br`, br);
      writeFileSync(`${path}.gz`, gz);
      return [name, { bytes: content.length, br: br.length, gz: gz.length }];
    }),
  );
  return Object.fromEntries(sizes);
}
