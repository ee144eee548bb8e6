/** A server that blocks its event loop when asked to, to try out the measuring thread. */
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/waits") await Bun.sleep(500);
    // Asleep, not busy: the result is then the same however busy the machine is.
    if (pathname === "/blocks") Bun.sleepSync(500);
    return new Response("ok");
  },
});
process.stdout.write(`${server.port}\n`);
