import { expect, test } from "bun:test";
import { type Bar, scaleOf, toSvg } from "./chart.ts";

const ours: Bar = { label: "svc gateway", value: 50, isOurs: true };
const widths = (svg: string) =>
  [...svg.matchAll(/<rect [^>]*width="(\d+)"/g)].map(([, width]) => Number(width));

test("the longest bar has the full width, and others their share", () => {
  const svg = toSvg({
    title: "CPU",
    unit: "µs",
    bars: [{ label: "nginx", value: 10, isOurs: false }, ours, { ...ours, value: 100 }],
  });
  const [nginx = 0, half = 0, full = 0] = widths(svg);
  expect(half).toBe(full / 2);
  expect(nginx).toBe(full / 10);
});

test("a bar far beyond ours is cut and keeps its figure", () => {
  const bars = [ours, { label: "slow", value: 16_100, isOurs: false }];
  expect(scaleOf(bars)).toBe(250);
  const svg = toSvg({ title: "CPU", unit: "µs", bars });
  expect(svg).toContain("… 16,100");
  expect(svg).not.toContain("… 50");
});

test("a second bar is behind the first, with both figures", () => {
  const svg = toSvg({
    title: "Latency",
    unit: "µs",
    furtherTitle: "p99",
    bars: [{ ...ours, further: 100 }],
  });
  const [further = 0, value = 0] = widths(svg);
  expect(further).toBe(value * 2);
  expect(svg).toContain("50 / 100");
  expect(svg).toContain("pale: p99");
});

test("texts are escaped, and values of zero or below have a bar", () => {
  const bars = [{ label: 'a <b> & "c"', value: -3, isOurs: false }];
  const svg = toSvg({ title: "a < b", unit: "µs", bars });
  expect(svg).toContain("a &lt;b> &amp; &quot;c&quot;");
  expect(widths(svg).every((width) => width >= 1)).toBe(true);
  expect(toSvg({ title: "", unit: "", bars: [] })).toEndWith("</svg>\n");
});
