import { wantsColour } from "../../../src/config/terminal.ts";

/** Says on stderr what is being installed: one line that moves at a terminal, plain lines elsewhere. */
export interface Progress {
  begin(what: string): void;
  /** The newest thing that happened. */
  say(detail: string): void;
  end(): void;
  /** Clears the moving line, for the error that follows. */
  giveUp(): void;
}

export function createProgress(): Progress {
  const isMoving = wantsColour(process.stderr);
  let what = "";
  let startedAt = 0;
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  let detail = "";
  let timer: Timer | undefined;
  const write = (text: string) => process.stderr.write(text);
  const draw = () => {
    const line = `installing ${what} … ${seconds()} s  ${detail}`;
    // Some terminals say 0.
    const width = process.stderr.columns > 0 ? process.stderr.columns : 80;
    write(`\r\x1b[K${line.slice(0, width - 1)}`);
  };
  const clear = () => {
    clearInterval(timer);
    if (isMoving) write("\r\x1b[K");
  };
  return {
    begin(next) {
      what = next;
      detail = "";
      startedAt = performance.now();
      if (!isMoving) write(`installing ${what} …\n`);
      // Compiling a large package says nothing for minutes.
      else timer = setInterval(draw, 1_000);
    },
    say(next) {
      detail = next;
      if (isMoving) draw();
    },
    end() {
      clear();
      write(`installed ${what} in ${seconds()} s\n`);
    },
    giveUp: clear,
  };
}
