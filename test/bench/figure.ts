/** One number that a benchmark found, and what it came from. */
export interface Figure {
  value: number;
  unit: 'ratio' | 'per second' | 'ms' | 'MB' | 'schedules' | 'steps' | 'deviations';
  goal: { atMost: number } | { atLeast: number };
  /** What was measured and how much of it; enough to judge the number by. */
  inputs: Record<string, number | string>;
}

export function meetsGoal({ value, goal }: Figure): boolean {
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}
