import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../test/fixtures/media/fixture.ts";
import { Gcra } from "./gcra.ts";

/** A moment as large as real ones are: there a double has steps of 0.0002 ms. */
const startMs = 1_794_000_000_000;

/** From 0 to below 1, the same in every run. */
function seeded(seed: number): () => number {
  const random = seededRandom(seed);
  return () => random(2 ** 31) / 2 ** 31;
}

describe("the rate", () => {
  test("counts single tokens of a very large limit exactly", () => {
    const gcra = new Gcra(600_000_000);
    for (let taken = 0; taken < 100_000; taken++) gcra.take(1, startMs);
    expect(gcra.remaining(startMs)).toBe(599_900_000);
    expect(gcra.resetMs(startMs)).toBe(10);
  });

  test("refuses forever what is larger than the burst, and nothing that is not", () => {
    const gcra = new Gcra(60);
    expect(gcra.waitMs(61, startMs)).toBe(Number.POSITIVE_INFINITY);
    expect(gcra.promise(61, startMs)).toBe(Number.POSITIVE_INFINITY);
    expect(gcra.waitMs(60, startMs)).toBe(0);
    const none = new Gcra(0);
    none.adjust(5, startMs);
    expect(none.waitMs(1, startMs)).toBe(Number.POSITIVE_INFINITY);
    expect([none.remaining(startMs), none.resetMs(startMs)]).toEqual([0, 0]);
  });

  test("admits what it says is left, and not one more", () => {
    const random = seeded(21);
    const gcra = new Gcra(7_777);
    let nowMs = startMs;
    for (let step = 0; step < 5_000; step++) {
      nowMs += random() * 100;
      const left = gcra.remaining(nowMs);
      expect(gcra.waitMs(left, nowMs)).toBe(0);
      expect(gcra.waitMs(left + 1, nowMs)).toBeGreaterThan(0);
      gcra.take(Math.floor(left * random() * 0.2), nowMs);
    }
  });
});

describe("a changed limit", () => {
  test("is no fresh burst for who has used his up", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    gcra.change(60, startMs);
    expect(gcra.remaining(startMs)).toBe(0);
    gcra.change(100, startMs);
    expect(gcra.remaining(startMs)).toBe(40);
    expect(gcra.perMinute).toBe(100);
  });

  test("that is lower is used up at most: the next is admitted after one slot", () => {
    const gcra = new Gcra(6_000);
    gcra.take(5_000, startMs);
    gcra.change(60, startMs);
    expect(gcra.remaining(startMs)).toBe(0);
    expect(gcra.waitMs(1, startMs)).toBeCloseTo(1_000, 6);
  });

  test("does not lock out who has used nothing, and refills at its own pace", () => {
    const gcra = new Gcra(600);
    gcra.take(600, startMs);
    const laterMs = startMs + 60_000;
    gcra.change(60, laterMs);
    expect(gcra.remaining(laterMs)).toBe(60);
    gcra.take(60, laterMs);
    expect(gcra.remaining(laterMs + 2_000)).toBe(2);
  });

  test("counts the time before it by the old limit", () => {
    const gcra = new Gcra(600);
    gcra.take(600, startMs);
    gcra.change(1_200, startMs + 30_000);
    expect(gcra.remaining(startMs + 30_000)).toBe(900);
  });

  test("keeps a debt", () => {
    const gcra = new Gcra(1_000);
    gcra.take(1_000, startMs);
    gcra.adjust(200, startMs);
    gcra.change(100, startMs);
    expect(gcra.waitMs(100, startMs)).toBeCloseTo(180_000, 6);
  });

  test("forgets slots that were told by the old one", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    for (let told = 0; told < 50; told++) gcra.promise(1, startMs);
    gcra.change(6_000, startMs);
    gcra.take(5_940, startMs);
    expect(gcra.promise(1, startMs)).toBe(10);
  });
});

describe("a promise", () => {
  test("admits everyone who obeys while the slots fit into ten seconds", () => {
    for (const perMinute of [60, 600, 6_000, 7_777]) {
      const gcra = new Gcra(perMinute);
      const nowMs = startMs + 0.3;
      gcra.take(perMinute, nowMs);
      const length = Math.min(70, 1 + perMinute / 6);
      const told = Array.from({ length }, () => gcra.promise(1, nowMs));
      for (const waitMs of told) {
        expect(gcra.waitMs(1, nowMs + waitMs)).toBe(0);
        gcra.take(1, nowMs + waitMs);
      }
    }
  });

  test("is never more than ten seconds past the first free slot, whoever was refused before", () => {
    const random = seeded(41);
    for (let round = 0; round < 300; round++) {
      const perMinute = Math.ceil(10 ** (random() * 5));
      const gcra = new Gcra(perMinute);
      let nowMs = startMs;
      let previousMs = 0;
      let repeats = 0;
      for (let step = 0; step < 300; step++) {
        if (random() < 0.05) nowMs += random() * 30_000;
        const cost = random() < 0.5 ? 1 : Math.ceil((random() * perMinute) / 4);
        const firstMs = gcra.waitMs(cost, nowMs);
        if (firstMs === 0) {
          gcra.take(cost, nowMs);
          continue;
        }
        const waitMs = gcra.promise(cost, nowMs);
        expect(waitMs).toBeGreaterThanOrEqual(Math.floor(firstMs));
        expect(waitMs).toBeLessThanOrEqual(Math.ceil(firstMs) + 10_000);
        repeats = nowMs + waitMs === previousMs ? repeats + 1 : 0;
        previousMs = nowMs + waitMs;
        // Nor does a crowd come back at one moment.
        expect(repeats).toBeLessThan(3);
      }
    }
  });

  test("does not count callers who have gone: 65 s after a burst of 360 the next slot is near", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    for (let refused = 0; refused < 300; refused++) gcra.promise(1, startMs);
    const laterMs = startMs + 65_000;
    gcra.take(60, laterMs);
    expect(gcra.promise(1, laterMs)).toBeLessThanOrEqual(11_000);
  });

  test("spreads callers over ten seconds also where a slot takes longer than that", () => {
    const gcra = new Gcra(2);
    gcra.take(2, startMs);
    const told = Array.from({ length: 12 }, () => gcra.promise(1, startMs));
    expect(told).toEqual([...Array.from({ length: 11 }, (_, at) => 30_000 + at * 1_000), 30_000]);
  });

  test("is kept to a lone caller at any moment, cost and limit, and not a millisecond late", () => {
    const random = seeded(31);
    let refused = 0;
    for (let round = 0; round < 20_000; round++) {
      const perMinute = Math.ceil(10 ** (random() * 8));
      const gcra = new Gcra(perMinute);
      let nowMs = startMs + random() * 1e9;
      for (let taken = 0; taken < 3; taken++) {
        gcra.take(Math.ceil(random() * perMinute), nowMs);
        nowMs += random() * 10_000;
      }
      const cost = Math.ceil(random() * perMinute);
      if (gcra.waitMs(cost, nowMs) === 0) continue;
      refused++;
      const waitMs = gcra.promise(cost, nowMs);
      expect(gcra.waitMs(cost, nowMs + waitMs)).toBe(0);
      expect(gcra.waitMs(cost, nowMs + waitMs - 1.01)).toBeGreaterThan(0);
    }
    expect(refused).toBeGreaterThan(5_000);
  });

  test("puts slots as far apart as the cost needs", () => {
    const gcra = new Gcra(600);
    gcra.take(600, startMs);
    const told = [10, 10, 30].map((cost) => gcra.promise(cost, startMs));
    expect(told).toEqual([1_000, 2_000, 5_000]);
  });

  test("reserves nothing", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    for (let told = 0; told < 50; told++) gcra.promise(1, startMs);
    expect(gcra.remaining(startMs + 3_000)).toBe(3);
    expect(gcra.waitMs(3, startMs + 3_000)).toBe(0);
  });

  test("begins anew when all slots that were told have passed", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    for (let told = 0; told < 5; told++) gcra.promise(1, startMs);
    gcra.take(5, startMs + 4_999);
    expect(gcra.promise(1, startMs + 4_999)).toBe(1_001);
    const laterMs = startMs + 6_000.5;
    expect(gcra.promise(50, laterMs)).toBe(49_000);
  });

  test("starts again at the first free slot for those who hammer, and they do not keep others out", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    for (let refused = 0; refused < 5_000; refused++)
      expect(gcra.promise(1, startMs)).toBe(1_000 * (1 + (refused % 11)));
    expect(gcra.waitMs(1, startMs + 1_000)).toBe(0);
    expect(gcra.promise(1, startMs + 500)).toBeLessThanOrEqual(10_500);
  });

  test("is kept even when a debt lasts longer than ten minutes", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    gcra.adjust(900, startMs);
    for (let told = 0; told < 2; told++) {
      const waitMs = gcra.promise(1, startMs);
      expect(waitMs).toBe(901_000 + told * 1_000);
      expect(gcra.waitMs(1, startMs + waitMs)).toBe(0);
    }
  });
});

describe("a clock", () => {
  test("that tells moments out of order leaks no time twice", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    for (let turn = 0; turn < 50; turn++) {
      gcra.adjust(0, startMs + 10_000);
      gcra.adjust(0, startMs);
    }
    expect(gcra.remaining(startMs + 10_000)).toBe(10);
    gcra.take(10, startMs + 10_000);
    const waitMs = gcra.promise(1, startMs + 4_000);
    expect(waitMs).toBe(7_000);
  });

  test("that tells moments out of order does not refuse what there is room for", () => {
    const gcra = new Gcra(60);
    gcra.take(59, startMs + 10_000);
    expect(gcra.waitMs(1, startMs)).toBe(0);
    expect(gcra.waitMs(2, startMs)).toBeGreaterThan(0);
    expect(gcra.resetMs(startMs)).toBe(59_000);
  });

  test("that was set back by an hour neither locks out nor grants", () => {
    const gcra = new Gcra(60);
    gcra.take(60, startMs);
    const nowMs = startMs - 3_600_000;
    expect(gcra.remaining(nowMs)).toBe(0);
    expect(gcra.promise(1, nowMs)).toBe(1_000);
    gcra.take(0, nowMs);
    expect(gcra.remaining(nowMs + 5_000)).toBe(5);
  });
});
