// Writes docs/providers from the vendors that the code knows; a test fails when the two disagree.
import { join } from "node:path";
import { vendorPages } from "./vendor-pages.ts";

const folder = join(import.meta.dir, "..", "docs", "providers");
for (const [name, text] of await vendorPages()) await Bun.write(join(folder, name), text);
process.stdout.write("Wrote docs/providers\n");
