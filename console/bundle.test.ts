import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { bundle, type Manifest } from "./bundle.ts";
import { mantineStyles } from "./mantine-styles.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-bundle-"));
const asset = (name: string) => join(folder, "assets", name);
let manifest: Manifest;
beforeAll(async () => {
  manifest = await bundle({ root: import.meta.dir, folder });
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a first visit costs less than 250 kB", () => {
  expect(Object.keys(manifest.firstLoad)).toEqual(["sign-in", "overview"]);
  for (const { bytes, files } of Object.values(manifest.firstLoad)) {
    expect(bytes).toBeLessThan(250_000);
    // Less than this is no app: the files were not found.
    expect(bytes).toBeGreaterThan(60_000);
    expect(files.filter((name) => !existsSync(asset(name)))).toEqual([]);
  }
});

test("the page asks for files that are there, and for nothing from elsewhere", () => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const asked = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
  expect(asked.length).toBe(4);
  for (const path of asked) {
    expect(path).toMatch(/^\/assets\/[\w-]+\.(js|css|svg)$/);
    expect(existsSync(join(folder, path))).toBe(true);
  }
  expect(html).toContain('content="{{nonce}}"');
  expect(html).not.toMatch(/<script(?! [^>]*src=)|<style|style=/);
});

test("every file is there in both compressed forms, which are the same file", () => {
  for (const [name, { bytes, br, gz }] of Object.entries(manifest.files)) {
    const content = readFileSync(asset(name));
    expect(content.length).toBe(bytes);
    expect(br).toBe(readFileSync(asset(`${name}.br`)).length);
    expect(gz).toBe(readFileSync(asset(`${name}.gz`)).length);
    expect(brotliDecompressSync(readFileSync(asset(`${name}.br`))).equals(content)).toBe(true);
    expect(gunzipSync(readFileSync(asset(`${name}.gz`))).equals(content)).toBe(true);
  }
});

test("each page is a file of its own, and no map of the sources is given away", () => {
  const pages = readdirSync(join(import.meta.dir, "src", "pages"));
  const scripts = Object.keys(manifest.files).filter((name) => name.endsWith(".js"));
  expect(scripts.length).toBeGreaterThan(pages.length);
  const mapped = scripts.filter((name) => readFileSync(asset(name), "utf8").includes("sourceMapp"));
  expect(mapped).toEqual([]);
});

test("the styles of a component come with it, in the library's order, and others do not", () => {
  const button = "m_77c9d27d";
  const unstyled = "m_87cf2631";
  const styles = mantineStyles([`"root":"${button}"`, `{root:"${unstyled}"}`]);
  expect(styles.indexOf(unstyled)).toBeGreaterThan(0);
  expect(styles.indexOf(`.${button}`)).toBeGreaterThan(styles.indexOf(`.${unstyled}`));
  expect(mantineStyles([])).not.toContain(button);
  expect(mantineStyles([])).toContain("--mantine-");
});
