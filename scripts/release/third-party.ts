/** Writes what the package says about the work of others: THIRD-PARTY.txt and sbom.cdx.json. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

/** The folders with a lock file: the gateway, the console's bundle, the embedded models. */
const projects = [
  { folder: "", about: "Dependencies of the gateway, installed from npm with it" },
  { folder: "console", about: "In the bundle of the console, which is in this package" },
  { folder: "engine", about: "Libraries of the embedded models, installed from npm on first use" },
] as const;

interface Locked {
  /** Where the folder has another name. */
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
}

interface Used {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly integrity: string | undefined;
  /** Where it is installed, if it is. */
  readonly path: string;
}

/** All packages of a lock file but for development tools. */
export function packagesOf(folder: string): readonly Used[] {
  const lock = JSON.parse(readFileSync(join(root, folder, "package-lock.json"), "utf8"));
  return Object.entries(lock.packages as Record<string, Locked>)
    .filter(([path, { dev }]) => path !== "" && dev !== true)
    .map(([path, { name, version = "", license = "see the package", integrity }]) => ({
      name: name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      license,
      integrity,
      path: join(root, folder, path),
    }));
}

/** The license texts in a package's folder, or what its package.json says. Empty if it is not here. */
function licenseTextOf({ path, license }: Used): string {
  if (!existsSync(path)) return "";
  const { author } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const owner = typeof author === "string" ? author : (author?.name ?? "its authors");
  const texts = readdirSync(path)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .toSorted()
    .map((name) => readFileSync(join(path, name), "utf8").trim());
  return texts.length > 0
    ? texts.join("\n\n")
    : `${license}, by ${owner}. The package has no license file.`;
}

const line = "=".repeat(80);

/** A list of all packages, then the license texts, each once with the packages it is of. */
export function noticesText(): string {
  const lists = projects.map(({ folder, about }) => {
    const rows = packagesOf(folder).map(
      ({ name, version, license }) => `  ${name}@${version}  ${license}`,
    );
    return `${about}:\n\n${[...new Set(rows)].toSorted().join("\n")}`;
  });
  const owners = new Map<string, string[]>();
  for (const used of [...packagesOf(""), ...packagesOf("console")]) {
    const text = licenseTextOf(used);
    if (text === "") continue;
    owners.set(text, [...(owners.get(text) ?? []), `${used.name}@${used.version}`]);
  }
  const texts = [...owners].map(
    ([text, names]) => `${line}\n${[...new Set(names)].join("\n")}\n${line}\n\n${text}`,
  );
  const head = "svc gateway uses the work of others. Its own license is in LICENSE.";
  return `${[head, ...lists, ...texts].join("\n\n")}\n`;
}

/** A part of CycloneDX 1.5. */
interface Component {
  readonly type: "application" | "library";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly ({ license: { id: string } } | { expression: string })[];
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
}

/**
 * CycloneDX, of all lock files in one. Not by `npm sbom`, which leaves out packages that
 * development tools need as well. The same lock files give the same text.
 */
export function billOfMaterials() {
  const used = projects.flatMap(({ folder }) => packagesOf(folder));
  const [own, ...others] = projects.map(({ folder }) => ownComponent(folder));
  if (own === undefined) throw new Error("there is no lock file");
  const components = new Map([...others, ...used.map(toComponent)].map((one) => [one.purl, one]));
  const all = [...components.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { ...own, type: "application" as const } },
    components: all,
    // Only what is known without resolving: everything belongs to one of the three packages.
    dependencies: projects.map(({ folder }) => ({
      ref: ownComponent(folder).purl,
      dependsOn: [
        ...(folder === "" ? others.map(({ purl }) => purl) : []),
        ...new Set(packagesOf(folder).map((one) => toComponent(one).purl)),
      ],
    })),
  };
}

function ownComponent(folder: string): Component {
  const text = readFileSync(join(root, folder, "package.json"), "utf8");
  const { name, version, license } = JSON.parse(text);
  return toComponent({ name, version, license, path: "", integrity: undefined });
}

function toComponent({ name, version, license, integrity }: Used): Component {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const digest = integrity?.startsWith("sha512-") ? integrity.slice("sha512-".length) : undefined;
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    licenses: [license.includes(" ") ? { expression: license } : { license: { id: license } }],
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] }),
  };
}

if (import.meta.main) {
  writeFileSync(join(root, "THIRD-PARTY.txt"), noticesText());
  writeFileSync(join(root, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(), null, 2)}\n`);
}
