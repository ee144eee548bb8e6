import { expect, test } from "bun:test";
import { Exposition, toLabels } from "./exposition.ts";
import { Histogram, toBounds } from "./histogram.ts";

test("a name with quotes, backslashes or line ends stays one label on one line", () => {
  expect(toLabels({ model: 'a"b\\c\nd', endpoint: "chat" })).toBe(
    'model="a\\"b\\\\c\\nd",endpoint="chat"',
  );
});

test("a histogram tells how many were at or below each bound, their sum and their count", () => {
  const histogram = new Histogram(toBounds([10, 250]));
  for (const ms of [0, 10, 11, 250, 251, 4_000]) histogram.observe(ms);
  const text = new Exposition()
    .family({ name: "svc_x_seconds", type: "histogram", help: "What it is." })
    .addHistogram('model="a"', histogram)
    .text();
  expect(text).toBe(`# HELP svc_x_seconds What it is.
# TYPE svc_x_seconds histogram
svc_x_seconds_bucket{model="a",le="0.01"} 2
svc_x_seconds_bucket{model="a",le="0.25"} 4
svc_x_seconds_bucket{model="a",le="+Inf"} 6
svc_x_seconds_sum{model="a"} 4.522
svc_x_seconds_count{model="a"} 6
`);
});
