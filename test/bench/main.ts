/**
 * `npm run bench -- [name…] [--json]` runs the benchmarks named, or all. With `--json` it prints one object,
 * `{ benchmark: { figure: { value, unit, goal, met, inputs } } }`, and nothing else. A figure that misses its
 * goal is shown, and is no failure: the goals are for a quiet machine.
 */
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../setup/embedded-server.ts';
import { meetsGoal, type Figure } from './figure.ts';
import { benchReceive } from './receive.ts';
import { benchSimulate } from './simulate.ts';

const BENCHMARKS: Readonly<Record<string, () => Promise<Record<string, Figure>>>> = {
  receive: () => onPostgres(benchReceive),
  simulate: benchSimulate,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
const chosen = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
const results: Record<string, unknown> = {};
for (const name of chosen) {
  const run = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
  if (!run) {
    console.error(`No benchmark ${name}. There are: ${Object.keys(BENCHMARKS).join(', ')}.`);
    process.exit(2);
  }
  const figures = await run();
  results[name] = Object.fromEntries(
    Object.entries(figures).map(([what, figure]) => [what, { ...figure, met: meetsGoal(figure) }]),
  );
  if (!values.json) for (const [what, figure] of Object.entries(figures)) print(what, figure);
}
if (values.json) console.log(JSON.stringify(results));

function print(what: string, figure: Figure): void {
  const goal = 'atMost' in figure.goal ? `≤ ${figure.goal.atMost}` : `≥ ${figure.goal.atLeast}`;
  const unit = figure.unit === 'ratio' ? '' : ` ${figure.unit}`;
  console.log(
    `${meetsGoal(figure) ? '✓' : '✗'} ${what}: ${figure.value.toFixed(3)}${unit} (${goal})`,
  );
  console.log(`    ${JSON.stringify(figure.inputs)}`);
}

async function onPostgres<T>(work: (serverUrl: string) => Promise<T>): Promise<T> {
  const given = process.env['SUME_SIM_DATABASE_URL'];
  if (given !== undefined && given !== '') return work(given);
  const server = await startEmbeddedServer();
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}
