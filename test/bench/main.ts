/**
 * `npm run bench -- [name…] [--json]` runs the benchmarks named, or all. With `--json` it prints one object,
 * `{ benchmark: { figure: { value, unit, goal, met, inputs } } }`, and nothing else. A figure that misses its
 * goal is shown, and is no failure: the goals are for a quiet machine.
 */
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../sim/postgres/embedded-server.ts';
import { meetsGoal, type Figure } from './figure.ts';
import { benchBugs } from './bugs.ts';
import { benchLab } from './lab.ts';
import { benchReceive } from './receive.ts';
import { benchServer } from './server.ts';
import { benchSimulate } from './simulate.ts';
import { benchStart } from './start.ts';

const BENCHMARKS: Readonly<Record<string, () => Promise<Record<string, Figure>>>> = {
  receive: () => onPostgres(benchReceive),
  simulate: benchSimulate,
  start: benchStart,
  server: benchServer,
  lab: benchLab,
  bugs: () => onPostgres(benchBugs, { durable: false }),
};

const { names, json } = readArguments();
const results: Record<string, unknown> = {};
for (const name of names) {
  const figures = (await BENCHMARKS[name]?.()) ?? {};
  results[name] = Object.fromEntries(
    Object.entries(figures).map(([what, figure]) => [what, { ...figure, met: meetsGoal(figure) }]),
  );
  if (!json) for (const [what, figure] of Object.entries(figures)) print(what, figure);
}
if (json) console.log(JSON.stringify(results));

/** Wrong usage ends the process with one line and code 2. */
function readArguments(): { names: string[]; json: boolean } {
  const known = Object.keys(BENCHMARKS);
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false } },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(error.message);
  }
  const { positionals, values } = parsed;
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) return refuse(`No benchmark ${unknown}.`);
  return { names: positionals.length > 0 ? positionals : known, json: values.json };

  function refuse(reason: string): never {
    console.error(`${reason} Usage: npm run bench -- [${known.join('|')}…] [--json]`);
    process.exit(2);
  }
}

function print(what: string, figure: Figure): void {
  const goal = 'atMost' in figure.goal ? `≤ ${figure.goal.atMost}` : `≥ ${figure.goal.atLeast}`;
  const unit = figure.unit === 'ratio' ? '' : ` ${figure.unit}`;
  console.log(
    `${meetsGoal(figure) ? '✓' : '✗'} ${what}: ${figure.value.toFixed(3)}${unit} (${goal})`,
  );
  console.log(`    ${JSON.stringify(figure.inputs)}`);
}

/** @param options.durable whether commits wait for the disk, as they do in production. */
async function onPostgres<T>(
  work: (serverUrl: string) => Promise<T>,
  { durable = true } = {},
): Promise<T> {
  const given = process.env['SUME_SIM_DATABASE_URL'];
  if (given !== undefined && given !== '') return work(given);
  const server = await startEmbeddedServer({ durable });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}
