// Writes docs/openapi.json from the schemas of src/wire/v1; a test fails if they differ.
import { join } from "node:path";
import { toOpenApi } from "../src/wire/v1/openapi/openapi.ts";

const path = join(import.meta.dir, "..", "docs", "openapi.json");
await Bun.write(path, `${JSON.stringify(toOpenApi(), undefined, 2)}\n`);
process.stdout.write("Wrote docs/openapi.json\n");
