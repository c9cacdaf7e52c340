/**
 * The candidates that a mistyped name is most likely to mean, best first, three at most. Swapped, missing,
 * extra and wrong characters count one each; a name is near with at most a third of it wrong, or when one
 * begins the other.
 */
export function nearest(name: string, candidates: readonly string[]): string[] {
  const typed = name.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, distance: distance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, distance: wrong }) => {
      const begins =
        typed.length > 1 && (candidate.startsWith(typed) || typed.startsWith(candidate));
      return begins || wrong <= Math.max(1, Math.floor(candidate.length / 3));
    })
    .sort((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Edits between two strings, a swap of neighbours counting as one (optimal string alignment). */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      );
      if (from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, at(row - 2, column - 2) + 1);
      }
      line.push(cost);
    }
  }
  return at(from.length, to.length);
}
