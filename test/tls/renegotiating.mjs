/**
 * Run by tls.test.ts with Node, whose TLS can ask for a second handshake: a server that asks for one
 * when a request arrives. Prints its port, then a line per request that it gets.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:tls";

const [key, cert] = process.argv.slice(2).map((path) => readFileSync(path));
const server = createServer({ key, cert, maxVersion: "TLSv1.2" }, (socket) => {
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    process.stdout.write(`${bytes.toString().split("\r\n")[0]}\n`);
    socket.renegotiate({}, () => {});
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
