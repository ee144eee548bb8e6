import { describe, expect, test } from "bun:test";
import type { SetProgress } from "../../../engine/weights/sets.ts";
import { type BarLine, barLine, createProgressView, plainLine } from "./progress.ts";

const mb = 1_000_000;
/** Without the colours that a terminal would get. */
const plainBar = (options: BarLine) => Bun.stripANSI(barLine(options));
const at = (doneBytes: number, more: Partial<SetProgress> = {}): SetProgress => ({
  set: "chat",
  phase: "fetching",
  doneBytes,
  totalBytes: 200 * mb,
  ...more,
});

/** A screen that keeps what was written. */
function createScreen(isTTY: boolean, columns = 80) {
  let text = "";
  return { isTTY, columns, write: (more: string) => (text += more), text: () => text };
}

/** What a terminal shows in the end: only the cursor movements that the bars use. */
function shownBy(text: string): string[] {
  let lines = [""];
  for (const [part] of text.replaceAll("\x1b", "␛").matchAll(/␛\[\??\d*[A-Za-z]|\n|[^␛\n]+/g)) {
    const up = /^␛\[(\d+)A$/.exec(part);
    if (up !== null) lines = [...lines.slice(0, lines.length - 1 - Number(up[1])), ""];
    else if (part === "\n") lines.push("");
    else if (!part.startsWith("␛")) lines[lines.length - 1] += part.replace("\r", "");
  }
  return lines;
}

describe("plain lines", () => {
  test("come at each change of phase and at every tenth", () => {
    const screen = createScreen(false);
    const view = createProgressView({ screen });
    view.update(at(0, { phase: "waiting" }));
    for (let done = 0; done <= 200; done += 3) view.update(at(done * mb));
    view.update(at(200 * mb, { phase: "preparing" }));
    view.update(at(200 * mb, { phase: "ready" }));
    view.end();
    const lines = screen.text().trimEnd().split("\n");
    expect(lines[0]).toBe("chat: waiting");
    expect(lines[1]).toBe("chat: downloading, 0% (0.0 of 200.0 MB)");
    expect(lines[2]).toBe("chat: downloading, 10% (21.0 of 200.0 MB)");
    expect(lines.slice(-2)).toEqual(["chat: preparing", "chat: ready"]);
    expect(lines).toHaveLength(1 + 10 + 2);
  });

  test("say why a set failed", () => {
    const failed = at(0, { phase: "failed", problem: "The disk is full." });
    expect(plainLine(at(0), failed)).toBe("chat: failed. The disk is full.");
  });
});

describe("a bar", () => {
  test("shows share, amount, rate and time left", () => {
    const line = plainBar({ progress: at(50 * mb), columns: 100, bytesPerSecond: 10 * mb });
    expect(line).toBe(
      `  chat    ${"━".repeat(8)}${"─".repeat(22)}  25%  50.0 of 200.0 MB  10.0 MB/s  0:15 left`,
    );
  });

  test("never fills a terminal's line, and keeps the share longest", () => {
    for (let columns = 24; columns < 120; columns++) {
      const line = plainBar({ progress: at(50 * mb), columns, bytesPerSecond: 10 * mb });
      expect(Bun.stringWidth(line)).toBeLessThan(columns);
      expect(line).toContain("25%");
      expect(line).toContain("━");
    }
  });

  test("shows 100% only at the end, and no time before the rate is known", () => {
    expect(plainBar({ progress: at(200 * mb - 1), columns: 80 })).toContain(" 99%");
    expect(plainBar({ progress: at(50 * mb), columns: 100 })).not.toContain("left");
    const slow = plainBar({ progress: at(0), columns: 100, bytesPerSecond: 20_000 });
    expect(slow).toContain("2:46:40 left");
  });

  test("is drawn over itself, one line a set, below what is printed meanwhile", () => {
    const screen = createScreen(true);
    let nowMs = 0;
    const view = createProgressView({ screen, nowMs: () => nowMs });
    view.update(at(0, { set: "text", phase: "waiting" }));
    view.update(at(100 * mb));
    nowMs = 1000;
    view.update(at(120 * mb));
    view.above(() => screen.write("a log line\n"));
    view.update(at(0, { set: "text", phase: "failed", problem: "No network." }));
    view.update(at(200 * mb, { phase: "ready" }));
    view.end();
    expect(shownBy(screen.text())).toEqual([
      "a log line",
      "text failed. No network.",
      "  text    failed",
      "  chat    ready  200.0 MB",
      "",
    ]);
    // What was there before this run began is no speed.
    expect(Bun.stripANSI(screen.text())).toContain("20.0 MB/s  0:04 left");
    expect(screen.text()).toStartWith("\x1b[?25l");
    expect(screen.text()).toEndWith("\x1b[?25h");
  });
});
