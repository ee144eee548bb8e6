import { connect } from "node:net";

/** The HTTP chunks of the reply to a POST with JSON, one for each write. */
export function writesOfReply(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<readonly string[]> {
  const { hostname, port, pathname } = new URL(url);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: "x",
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${text}`);
  return new Promise((resolve, reject) => {
    const reads: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => reads.push(bytes));
    socket.once("error", reject);
    socket.once("end", () => resolve(chunksOf(Buffer.concat(reads))));
  });
}

function chunksOf(all: Buffer): readonly string[] {
  let rest = all.subarray(all.indexOf("\r\n\r\n") + 4);
  const chunks: string[] = [];
  for (;;) {
    const lineEnd = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.subarray(0, lineEnd).toString(), 16);
    if (!(size > 0)) return chunks;
    chunks.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size).toString());
    rest = rest.subarray(lineEnd + 2 + size + 2);
  }
}
