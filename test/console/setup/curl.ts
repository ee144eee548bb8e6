/**
 * Sends what a curl line says, without curl, which a bare machine may lack: the shell itself takes
 * the line apart, as it would for curl.
 */
export async function sendCurl(line: string): Promise<Response> {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${line}`;
  const child = Bun.spawn(["sh", "-c", script], { stdout: "pipe", stderr: "pipe" });
  const [text, problem, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`the shell does not understand it: ${problem}`);
  const words = text.split("\0").slice(0, -1);
  const headers: Record<string, string> = {};
  let body: string | undefined;
  let url = "";
  while (words.length > 0) {
    const word = words.shift() ?? "";
    const value = () => words.shift() ?? "";
    if (word === "-H" || word === "--header") {
      const [name = "", ...rest] = value().split(":");
      headers[name.trim()] = rest.join(":").trim();
    } else if (word === "-d" || word === "--data") body = value();
    else if (word === "-X" || word === "--request" || word === "-o") value();
    else if (!word.startsWith("-")) url = word;
  }
  return fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers,
    ...(body === undefined ? {} : { body }),
  });
}
