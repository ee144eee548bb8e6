/**
 * Lifts a vector of the model's size to a larger one without changing any cosine. The result is a
 * row of blocks, each the vector under an orthonormal map of its own (signs flipped by a fixed
 * rule, then a cosine transform), so that a shorter size is the beginning of a longer one,
 * brought to unit length: what callers who cut vectors themselves rely on.
 */
export function createLift(
  size: number,
): (vector: Float32Array, dimensions: number) => Float32Array {
  const basis = cosineBasis(size);
  return (vector, dimensions) => {
    const blocks = dimensions / size;
    if (vector.length !== size || !Number.isInteger(blocks))
      throw new RangeError(
        `${vector.length} values cannot be lifted to ${dimensions} by blocks of ${size}`,
      );
    const lifted = new Float32Array(dimensions);
    const scale = 1 / (lengthOf(vector) * Math.sqrt(blocks));
    for (let block = 0; block < blocks; block++) {
      const signs = signsOf(block, size);
      for (let row = 0; row < size; row++) {
        let sum = 0;
        for (let column = 0; column < size; column++)
          sum += (basis[row * size + column] ?? 0) * (signs[column] ?? 0) * (vector[column] ?? 0);
        lifted[block * size + row] = sum * scale;
      }
    }
    return lifted;
  };
}

function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

/** The orthonormal discrete cosine transform (type II). */
function cosineBasis(size: number): Float64Array {
  const basis = new Float64Array(size * size);
  for (let row = 0; row < size; row++) {
    const scale = Math.sqrt((row === 0 ? 1 : 2) / size);
    for (let column = 0; column < size; column++)
      basis[row * size + column] = scale * Math.cos((Math.PI * (column + 0.5) * row) / size);
  }
  return basis;
}

const knownSigns = new Map<string, Int8Array>();

/** Fixed forever: another rule would give other vectors for the same text. */
function signsOf(block: number, size: number): Int8Array {
  const name = `${block}/${size}`;
  const known = knownSigns.get(name);
  if (known !== undefined) return known;
  let state = 0x9e3779b9 ^ (block + 1);
  const signs = Int8Array.from({ length: size }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state & 1) === 0 ? 1 : -1;
  });
  knownSigns.set(name, signs);
  return signs;
}
