import type { SetProgress } from "../../../engine/weights/sets.ts";
import { style } from "./output.ts";

/** Shows the progress of several downloads. */
export interface ProgressView {
  update(progress: SetProgress): void;
  /** Prints something else, above the bars if there are any. */
  above(write: () => void): void;
  /** Leaves the last state on the screen and restores the cursor. */
  end(): void;
}

export interface ProgressScreen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface ProgressViewOptions {
  readonly screen?: ProgressScreen;
  readonly nowMs?: () => number;
}

export function createProgressView({
  screen = process.stdout,
  nowMs = () => performance.now(),
}: ProgressViewOptions = {}): ProgressView {
  return screen.isTTY === true ? createBars(screen, nowMs) : createPlainLines(screen);
}

/** For logs and pipes: one line per change of phase and per 10%. */
function createPlainLines(screen: ProgressScreen): ProgressView {
  const last = new Map<string, SetProgress>();
  return {
    update(progress) {
      const line = plainLine(last.get(progress.set), progress);
      // Every 10% since the last printed line.
      if (line === undefined) return;
      last.set(progress.set, progress);
      screen.write(`${line}\n`);
    },
    above: (write) => write(),
    end: () => undefined,
  };
}

/** The line for a change worth one; `before` is what the last line was about. */
export function plainLine(
  before: SetProgress | undefined,
  progress: SetProgress,
): string | undefined {
  const { set, phase, problem } = progress;
  const isNewPhase = before?.phase !== phase;
  if (!isNewPhase && (phase !== "fetching" || tenth(before) === tenth(progress))) return undefined;
  switch (phase) {
    case "fetching":
      return `${set}: downloading, ${percent(progress)}% (${amount(progress)})`;
    case "failed":
      return `${set}: failed. ${problem ?? ""}`.trimEnd();
    case "absent":
      return `${set}: not downloaded`;
    case "waiting":
    case "preparing":
    case "ready":
      return `${set}: ${phase}`;
    default:
      return phase satisfies never;
  }
}

const tenth = (progress: SetProgress) => Math.floor(percent(progress) / 10);

const hideCursor = "\x1b[?25l";
const showCursor = "\x1b[?25h";

/** One line per set, redrawn in place. */
function createBars(screen: ProgressScreen, nowMs: () => number): ProgressView {
  const sets = new Map<string, { progress: SetProgress; speed: Speed }>();
  let drawnLines = 0;
  let isOver = false;
  const clear = () => (drawnLines === 0 ? "" : `\x1b[${drawnLines}A\r\x1b[J`);
  const draw = () => {
    // Some terminals report 0.
    const { columns: told = 0 } = screen;
    const columns = told > 0 ? told : 80;
    const lines = [...sets.values()].map(({ progress, speed }) =>
      barLine({ progress, columns, bytesPerSecond: speed.bytesPerSecond() }),
    );
    // In one write, to avoid flicker.
    screen.write(`${hideCursor}${clear()}${lines.map((line) => `${line}\n`).join("")}`);
    drawnLines = lines.length;
  };
  const onExit = () => {
    if (!isOver) screen.write(showCursor);
  };
  process.once("exit", onExit);
  const above: ProgressView["above"] = (write) => {
    if (!isOver) screen.write(clear());
    drawnLines = 0;
    write();
    if (!isOver && sets.size > 0) draw();
  };
  return {
    update(progress) {
      if (isOver) return;
      const known = sets.get(progress.set);
      const speed = known?.speed ?? createSpeed(nowMs);
      speed.add(progress);
      sets.set(progress.set, { progress, speed });
      const { problem } = progress;
      // Too long for a bar's line, and too important to truncate.
      if (problem !== undefined && known?.progress.problem !== problem)
        above(() => screen.write(`${style.red(`${progress.set} failed.`)} ${problem}\n`));
      else draw();
    },
    above,
    end() {
      if (isOver) return;
      isOver = true;
      process.off("exit", onExit);
      screen.write(showCursor);
    },
  };
}

export interface BarLine {
  readonly progress: SetProgress;
  readonly columns: number;
  /** Undefined: not known yet. */
  readonly bytesPerSecond?: number | undefined;
}

const nameWidth = 8;
const maxBarWidth = 30;
const minBarWidth = 6;

/** A line that never wraps. The bar shrinks first, then details are dropped from the right. */
export function barLine({ progress, columns, bytesPerSecond }: BarLine): string {
  const { set, phase, doneBytes, totalBytes } = progress;
  const name = `  ${set.padEnd(nameWidth)}`;
  const room = columns - 1 - name.length;
  if (phase !== "fetching" && phase !== "preparing") {
    const words = {
      waiting: "waiting",
      ready: "ready",
      failed: "failed",
      absent: "not downloaded",
    };
    const paints = { waiting: style.dim, ready: style.green, failed: style.red, absent: style.dim };
    const size = phase === "ready" ? `  ${megabytes(totalBytes)} MB` : "";
    return `${name}${paints[phase](words[phase])}${style.dim(fitting([size], room - words[phase].length))}`;
  }
  const ratio = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes);
  const rate = bytesPerSecond === undefined ? "" : `  ${megabytes(bytesPerSecond)} MB/s`;
  const left =
    bytesPerSecond === undefined || bytesPerSecond <= 0
      ? ""
      : `  ${clockText((totalBytes - doneBytes) / bytesPerSecond)} left`;
  const share = ` ${String(percent(progress)).padStart(3)}%`;
  const details = phase === "preparing" ? ["  preparing"] : [`  ${amount(progress)}`, rate, left];
  const text = fitting([share, ...details], room - minBarWidth);
  const width = Math.max(0, Math.min(maxBarWidth, room - text.length));
  const filled = Math.round(width * ratio);
  return `${name}${style.cyan("━".repeat(filled))}${style.dim("─".repeat(width - filled))}${text}`;
}

/** As many parts, from the left, as there is room for. */
function fitting(parts: readonly string[], room: number): string {
  let text = "";
  for (const part of parts) {
    if (text.length + part.length > room) break;
    text += part;
  }
  return text;
}

/** Rounded down: 100 % means all of it. */
function percent({ doneBytes, totalBytes }: SetProgress): number {
  return totalBytes === 0 ? 100 : Math.floor((doneBytes / totalBytes) * 100);
}

function amount({ doneBytes, totalBytes }: SetProgress): string {
  return `${megabytes(doneBytes)} of ${megabytes(totalBytes)} MB`;
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

function clockText(seconds: number): string {
  const whole = Math.min(359_999, Math.max(0, Math.round(seconds)));
  const minutes = Math.floor(whole / 60);
  const two = (value: number) => String(value).padStart(2, "0");
  return minutes < 60
    ? `${minutes}:${two(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

interface Speed {
  add(progress: SetProgress): void;
  bytesPerSecond(): number | undefined;
}

const windowMs = 5000;
const leastMs = 500;
const maxSamples = 100;

/** Over the last seconds. Bytes from an earlier run do not count. */
function createSpeed(nowMs: () => number): Speed {
  let samples: { readonly atMs: number; readonly bytes: number }[] = [];
  return {
    add({ phase, doneBytes }) {
      const atMs = nowMs();
      if (phase !== "fetching" || doneBytes < (samples.at(-1)?.bytes ?? 0)) samples = [];
      if (phase !== "fetching") return;
      samples.push({ atMs, bytes: doneBytes });
      samples = samples.filter((sample) => atMs - sample.atMs <= windowMs).slice(-maxSamples);
    },
    bytesPerSecond() {
      const first = samples[0];
      const last = samples.at(-1);
      if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs)
        return undefined;
      return ((last.bytes - first.bytes) / (last.atMs - first.atMs)) * 1000;
    },
  };
}
