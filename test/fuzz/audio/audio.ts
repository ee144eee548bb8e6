/**
 * Plays every file that our measure accepts with decoders that are not ours: libav (PyAV), ffmpeg
 * and libsndfile. None may play it for longer than it is billed.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billedAudioSeconds } from "../../../src/call/transcribe.ts";
import { inspectAudio } from "../../../src/media/audio/audio.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { Dice } from "../cases/dice.ts";
import { ensurePython } from "../python.ts";
import { aacAttacks, changedPackets } from "./aac-attacks.ts";
import { Decoders } from "./decoders.ts";
import { mutantOf, type Sample } from "./mutants.ts";
import { polyglotsOf } from "./polyglots.ts";

export interface AudioOptions {
  /** The project's folder. */
  readonly root: string;
  readonly seed: number;
  readonly mutants: number;
  readonly tell: (line: string) => void;
  readonly onFile: (done: number, all: number) => void;
}

export interface AudioResult {
  readonly versions: Readonly<Record<string, string>>;
  readonly corpus: number;
  readonly polyglots: number;
  /** M4A files whose packets hold several frames, or look as if they did. */
  readonly attacks: number;
  readonly mutants: number;
  /** Files that the measure accepted; all of them were played. */
  readonly accepted: number;
  /** By decoder, how many of those it played at all. */
  readonly played: Readonly<Record<string, number>>;
  /** Played seconds by billed seconds, at most, and of which file. */
  readonly worst: { readonly ratio: number; readonly name: string };
  readonly problems: readonly string[];
}

const corpusSeconds = 2;
/** Longer than billed by more than this, a file is found. */
const share = 1.05;
const graceS = 0.25;
const perBatch = 64;
/** Of files that others hold: hours of sound are as good as seconds. */
const mostInnerBytes = 400_000;
/** Of polyglots that are accepted, these are changed, too. */
const mostKept = 400;
/** Mutants of which every decoder plays each by its content, and only these by its name, too. */
const namedEvery = 16;
/** Processes that play files while the next ones are measured. */
const players = 4;
/** Of files after the first of their kind, and of packed ones to change, one in so many is taken. */
const placesPerTurn = 8;
/** Whose packets are packed in other ways: of the corpus, and of encoders that ffmpeg does not have. */
const encodedAac = ["plain.m4a", "phone.3gp", "stereo.m4a"];
const recordedAac = ["speech-he-aac.m4a", "speech-short-windows.m4a"];
/** Mutants for each file of changed packets. */
const changedEvery = 8;

interface Accepted extends Sample {
  /** Whether decoders that go by the extension play it, too. */
  readonly isNamed: boolean;
  readonly billedS: number;
}

interface Player {
  readonly decoders: Decoders;
  readonly folder: string;
  playing: Promise<void>;
}

export async function runAudio(options: AudioOptions): Promise<AudioResult> {
  const folder = join(options.root, ".fuzz", "audio");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const requirements = join(import.meta.dir, "requirements.txt");
  const python = await ensurePython({
    home: join(options.root, ".fuzz", "audio-venv"),
    requirements,
    tell: options.tell,
  });
  const all = Array.from({ length: players }, (_, at): Player => {
    const own = join(folder, `player-${at}`);
    mkdirSync(own);
    return { decoders: new Decoders(python), folder: own, playing: Promise.resolve() };
  });
  try {
    return await new AudioRun(options, folder, all).run();
  } finally {
    await Promise.all(all.map(({ decoders }) => decoders.stop()));
  }
}

class AudioRun {
  readonly #options: AudioOptions;
  readonly #folder: string;
  readonly #players: readonly Player[];
  readonly #problems: string[] = [];
  readonly #played: Record<string, number> = {};
  #batch: Accepted[] = [];
  #batches = 0;
  #worst = { ratio: 0, name: "" };
  #accepted = 0;

  constructor(options: AudioOptions, folder: string, all: readonly Player[]) {
    this.#options = options;
    this.#folder = folder;
    this.#players = all;
  }

  async run(): Promise<AudioResult> {
    const { seed, mutants, tell, onFile } = this.#options;
    tell("audio: encoders make the corpus");
    const [first] = this.#players;
    if (first === undefined) throw new Error("nobody plays the files");
    const corpus = join(this.#folder, "corpus");
    const { made, versions } = await first.decoders.make(corpus, corpusSeconds);
    const all: Sample[] = made.map((name) => ({
      name,
      bytes: new Uint8Array(readFileSync(join(corpus, name))).slice(0, mostInnerBytes),
    }));
    const inner = all.filter(({ name }) => name.startsWith("inner-"));
    const outer = all.filter((sample) => !inner.includes(sample));
    for (const sample of outer)
      if (!(await this.#add(sample, true)))
        this.#problems.push(`${sample.name}: an encoder's own file is refused`);
    const keep: Sample[] = [...outer, ...outer, ...outer];
    let polyglots = 0;
    const whole = new Set<string>();
    for (const [at, own] of outer.entries()) {
      const kind = own.name.split(".").at(-1) ?? "";
      const isFirst = !whole.has(kind);
      whole.add(kind);
      for (const [number, other] of inner.entries())
        for (const [turn, { place, bytes }] of polyglotsOf(
          own.name,
          own.bytes,
          other.bytes,
        ).entries()) {
          // All places of one file of each kind, and of the others each in turn.
          if (!isFirst && (at + number + turn) % placesPerTurn !== 0) continue;
          polyglots += 1;
          const polyglot = { name: `${other.name} as ${place} of ${own.name}`, bytes };
          const isAccepted = await this.#add(polyglot, true);
          if (isAccepted && keep.length < mostKept) keep.push(polyglot);
        }
      onFile(at, outer.length * 2);
    }
    const encoded = [
      ...outer.filter(({ name }) => encodedAac.includes(name)),
      ...recordedAac.map((name): Sample => ({ name, bytes: fixtureBytes(name) })),
    ];
    const attacks = aacAttacks(encoded);
    for (const attack of attacks) await this.#add(attack, true);
    keep.push(...attacks.filter((_, at) => at % placesPerTurn === 0));
    for (let number = 0; number < mutants; number++) {
      if (number % changedEvery === 0) {
        const dice = new Dice(seed, mutants + number);
        const packets = changedPackets(dice, dice.pick(encoded));
        await this.#add({ ...packets, name: `${number}: ${packets.name}` }, false);
      }
      const dice = new Dice(seed, number);
      const mutant = mutantOf(dice, dice.pick(keep), dice.pick(all));
      await this.#add(
        { ...mutant, name: `mutant ${number} of ${mutant.name}` },
        number % namedEvery === 0,
      );
      onFile(mutants + number, mutants * 2);
    }
    await this.#play();
    await Promise.all(this.#players.map(({ playing }) => playing));
    return {
      versions,
      corpus: outer.length,
      polyglots,
      attacks: attacks.length,
      mutants,
      accepted: this.#accepted,
      played: this.#played,
      worst: this.#worst,
      problems: this.#problems,
    };
  }

  async #add(sample: Sample, isNamed: boolean): Promise<boolean> {
    const audio = await inspectAudio(sample.bytes);
    if (!audio.ok) return false;
    this.#accepted += 1;
    this.#batch.push({ ...sample, isNamed, billedS: billedAudioSeconds(audio.durationS) });
    if (this.#batch.length >= perBatch) await this.#play();
    return true;
  }

  /** Waits for the player whose turn it is, not for it to play this batch. */
  async #play(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    const player = this.#players[this.#batches % this.#players.length];
    this.#batches += 1;
    if (player === undefined) return;
    await player.playing;
    player.playing = this.#playBatch(player, batch);
  }

  async #playBatch({ decoders, folder }: Player, batch: readonly Accepted[]): Promise<void> {
    const listed = batch.map(({ name, bytes, billedS, isNamed }, at) => {
      const bare = join(folder, `${at}`);
      const named = `${bare}.${name.split(".").at(-1) ?? ""}`;
      writeFileSync(bare, bytes);
      if (isNamed) writeFileSync(named, bytes);
      return [bare, isNamed ? named : "", billedS * 3 + 2] as const;
    });
    for (const [at, played] of (await decoders.play(listed)).entries()) {
      const file = batch[at];
      if (file !== undefined) this.#judge(file, played);
    }
  }

  #judge(file: Accepted, played: Readonly<Record<string, number>>): void {
    for (const [decoder, seconds] of Object.entries(played)) {
      if (seconds > 0) this.#played[decoder] = (this.#played[decoder] ?? 0) + 1;
      const ratio = seconds / file.billedS;
      if (ratio > this.#worst.ratio) this.#worst = { ratio, name: `${file.name} (${decoder})` };
      if (seconds <= file.billedS * share + graceS) continue;
      const kept = join(this.#options.root, ".fuzz", "failures");
      mkdirSync(kept, { recursive: true });
      const path = join(kept, file.name.replaceAll(/[^\w.-]+/g, "-"));
      writeFileSync(path, file.bytes);
      this.#problems.push(
        `${file.name}: ${decoder} plays ${seconds} s, and ${file.billedS} s are billed; ${path}`,
      );
    }
  }
}
