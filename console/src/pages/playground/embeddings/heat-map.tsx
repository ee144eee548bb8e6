import classes from "./embeddings.module.css";
import { colorScale, toFigure } from "./similarity.ts";

export interface Thing {
  /** A letter or number that stands for it in the table. */
  readonly mark: string;
  /** A text, or the name of a file. */
  readonly name: string;
  readonly picture?: string | undefined;
}

interface HeatMapProps {
  readonly things: readonly Thing[];
  readonly matrix: readonly (readonly number[])[];
}

/** Beyond this the figures in the cells would be hard to read. */
const strongest = 44;

/** A table first: the colors only repeat its figures. */
export function HeatMap({ things, matrix }: HeatMapProps) {
  const strength = colorScale(matrix);
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label="Pairwise similarity">
      <table className={classes.map}>
        <thead>
          <tr>
            <td />
            {things.map((thing) => (
              <th key={thing.mark} scope="col" title={thing.name}>
                {thing.mark}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {things.map((thing, row) => (
            <tr key={thing.mark}>
              <th scope="row">
                <span className={classes.rowName} title={thing.name}>
                  <b>{thing.mark}</b>
                  {thing.picture !== undefined && <img src={thing.picture} alt="" />}
                  <span>{thing.name}</span>
                </span>
              </th>
              {(matrix[row] ?? []).map((value, column) => (
                <td
                  key={things[column]?.mark ?? column}
                  data-self={row === column}
                  style={row === column ? undefined : { background: colorOf(strength(value)) }}
                >
                  {row === column ? "–" : toFigure(value, 2)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const colorOf = (strength: number) =>
  `color-mix(in srgb, var(--svc-series-1) ${(4 + strength * (strongest - 4)).toFixed(0)}%, transparent)`;
