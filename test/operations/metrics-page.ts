/** The labels of a sample, as they are written: `{a="b"}`. */
export type Labels = Readonly<Record<string, string>>;

/** What a `/metrics` page said. */
export interface MetricsPage {
  /** The names that it declares. */
  names: string[];
  /** The sum of the samples of a metric that have these labels at least; 0 where there is none. */
  sum(name: string, labels?: Labels): number;
}

export async function readMetrics(url: string): Promise<MetricsPage> {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}/metrics was answered ${response.status}: ${text}`);
  const names = [...text.matchAll(/^# TYPE (\w+) /gm)].map((match) => match[1] ?? '');
  const samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map((match) => ({
    name: match[1],
    labels: Object.fromEntries(
      [...(match[2] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map((label) => [label[1], label[2]]),
    ) as Labels,
    value: Number(match[3]),
  }));
  return {
    names,
    sum: (name, wanted = {}) => {
      if (!names.includes(name)) throw new Error(`${url}/metrics has no ${name}.`);
      return samples
        .filter(
          (sample) =>
            sample.name === name &&
            Object.entries(wanted).every(([label, value]) => sample.labels[label] === value),
        )
        .reduce((total, { value }) => total + value, 0);
    },
  };
}
