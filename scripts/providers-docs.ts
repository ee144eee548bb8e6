// Writes docs/providers from the vendor data in the code; a test fails if they differ.
import { join } from "node:path";
import { vendorPages } from "./vendor-pages.ts";

const folder = join(import.meta.dir, "..", "docs", "providers");
for (const [name, text] of await vendorPages()) await Bun.write(join(folder, name), text);
process.stdout.write("Wrote docs/providers\n");
