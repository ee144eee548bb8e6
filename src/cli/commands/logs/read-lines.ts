/** A line of a log has a few hundred characters. */
const mostLineChars = 64 * 1024;

/** The lines of a text of any length. What is beyond the bound of a line is left out. */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = decoder.decode(bytes, { stream: true }).split("\n");
    lines[0] = rest + (lines[0] ?? "");
    rest = (lines.pop() ?? "").slice(0, mostLineChars);
    for (const line of lines) yield trimmed(line);
  }
  rest += decoder.decode();
  if (rest !== "") yield trimmed(rest);
}

const trimmed = (line: string) => line.slice(0, mostLineChars).replace(/\r$/, "");
