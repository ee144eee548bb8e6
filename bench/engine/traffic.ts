/** What the engine's bench asks: words, pictures and a clip, never twice the same in a row. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectDir } from "../load/processes.ts";

const things = ["lighthouse", "tailor", "glacier", "bakery", "violin", "harbour", "orchard"];
const pictures = ["astronaut", "coffee", "hibiscus", "parthenon", "raccoon", "rocket"];
const clip = "cat-h264.mp4";

const thing = (at: number) => things[at % things.length] ?? "";

/** Some 20 tokens, and an answer that does not end soon. */
export function shortPrompt(at: number): string {
  return `A ${thing(at)}: write a long story about it, with many people.`;
}

/** About 500 tokens, told apart by its first words. */
export function longPrompt(at: number): string {
  const lines = Array.from(
    { length: 31 },
    (_, line) => `On day ${line + 1} the ship carried ${line + 3} boxes to the north.`,
  );
  return `The ${thing(at)} log. ${lines.join(" ")} What did the ship carry?`;
}

export function shortTexts(count: number, round: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, at) => `Letter ${at} of round ${round} is about a ${thing(at)}.`,
  );
}

/** As a data URI. */
export function image(file: string): string {
  return `data:image/jpeg;base64,${fixture(file)}`;
}

export function images(): readonly string[] {
  return pictures.map((name) => image(`${name}.jpg`));
}

export function video(): object {
  return { video: { bytesBase64Encoded: fixture(clip) } };
}

/** About 25 seconds when it is read aloud. */
export function paragraph(at: number): string {
  return (
    `The ${thing(at)} stood at the end of a narrow road, and few people ever went there. ` +
    "In spring the fields around it turned green, and children came to look for birds. " +
    "An old man kept a book in which he wrote down the weather, every morning, for forty years. " +
    "When he was asked why, he smiled and said that somebody might want to know. " +
    "Nobody ever did, until one day a letter arrived from the other side of the sea."
  );
}

function fixture(file: string): string {
  return readFileSync(join(projectDir, "test", "fixtures", "engine", file)).toString("base64");
}
