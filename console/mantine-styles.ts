import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Those without which no component looks right. */
const always = ["default-css-variables", "baseline", "global"];

/**
 * The styles of those components that the scripts have in them, in the library's own order; all of
 * them would be more than twice as much. A component is known by the names of its classes.
 */
export function mantineStyles(scripts: readonly string[]): string {
  const whole = Bun.resolveSync("@mantine/core/styles.css", import.meta.dir);
  const order = readFileSync(whole, "utf8");
  const folder = join(dirname(whole), "styles");
  const used = new Set(scripts.flatMap((text) => text.match(/\bm_[0-9a-f]{5,}\b/g) ?? []));
  const parts = readdirSync(folder)
    .filter((name) => !name.endsWith(".layer.css"))
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const classes = text.match(/\bm_[0-9a-f]{5,}\b/g) ?? [];
      const isUsed =
        always.includes(name.replace(".css", "")) || classes.some((one) => used.has(one));
      return isUsed ? [{ text, at: order.indexOf(text.trim()) }] : [];
    });
  const styles = parts.toSorted((one, other) => one.at - other.at).map(({ text }) => text);
  return `@layer base,mantine;@layer mantine{${squeeze(styles.join("\n"))}}`;
}

/** Spaces that say nothing; compression does the rest. */
function squeeze(styles: string): string {
  return styles
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};]) ?/g, "$1");
}
