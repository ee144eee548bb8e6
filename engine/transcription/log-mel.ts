/** The picture of sound that a recognizer looks at: energy over time in bands spaced as the ear hears. */

export const melRate = 16_000;
export const melBands = 80;
const windowSize = 400;
const hop = 160;
const bins = windowSize / 2 + 1;

/** Energies of 16 kHz samples in `melBands` bands: one row of bands for every 10 ms. */
export function melFrames(samples: Float32Array): Float32Array[] {
  const frames = Math.floor(samples.length / hop);
  const filters = melFilters();
  const { cosines, sines } = waves();
  return Array.from({ length: frames }, (_, frame) => {
    const windowed = windowAt(samples, frame * hop - windowSize / 2);
    const powers = new Float64Array(bins);
    for (let bin = 0; bin < bins; bin += 1) {
      let real = 0;
      let imaginary = 0;
      for (let at = 0; at < windowSize; at += 1) {
        const phase = (bin * at) % windowSize;
        const sample = windowed[at] ?? 0;
        real += sample * (cosines[phase] ?? 0);
        imaginary += sample * (sines[phase] ?? 0);
      }
      powers[bin] = real * real + imaginary * imaginary;
    }
    return Float32Array.from(filters, (filter) =>
      filter.reduce((sum, weight, bin) => sum + weight * (powers[bin] ?? 0), 0),
    );
  });
}

function waves(): { cosines: Float64Array; sines: Float64Array } {
  const angle = (at: number) => (2 * Math.PI * at) / windowSize;
  return {
    cosines: Float64Array.from({ length: windowSize }, (_, at) => Math.cos(angle(at))),
    sines: Float64Array.from({ length: windowSize }, (_, at) => Math.sin(angle(at))),
  };
}

/** A Hann window; the ends of the sound are mirrored, as the recognizer was trained with. */
function windowAt(samples: Float32Array, start: number): Float64Array {
  return Float64Array.from({ length: windowSize }, (_, at) => {
    const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / windowSize);
    return hann * (samples[Math.abs(start + at)] ?? 0);
  });
}

function melFilters(): Float64Array[] {
  const top = toMel(melRate / 2);
  const edges = Array.from({ length: melBands + 2 }, (_, index) =>
    fromMel((top * index) / (melBands + 1)),
  );
  return Array.from({ length: melBands }, (_, band) => {
    const [low = 0, centre = 0, high = 0] = edges.slice(band, band + 3);
    return Float64Array.from({ length: bins }, (_, bin) => {
      const hertz = (bin * melRate) / windowSize;
      const rise = (hertz - low) / (centre - low);
      const fall = (high - hertz) / (high - centre);
      return (Math.max(0, Math.min(rise, fall)) * 2) / (high - low);
    });
  });
}

// Slaney's scale: even up to 1 kHz, logarithmic above.
const linearStep = 200 / 3;
const logStart = 1000;
const logStep = Math.log(6.4) / 27;

function toMel(hertz: number): number {
  return hertz < logStart
    ? hertz / linearStep
    : logStart / linearStep + Math.log(hertz / logStart) / logStep;
}

function fromMel(mel: number): number {
  const start = logStart / linearStep;
  return mel < start ? mel * linearStep : logStart * Math.exp(logStep * (mel - start));
}
