import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { integrations } from '../../sim/integrations/index.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import { createSimulator } from '../../sim/world/simulator.ts';

/** Prints one hash a seed, of the whole run. Arguments: the PGlite template, the first seed, how many. */
const [template = '', first = '', count = ''] = process.argv.slice(2);
const database = await PGlite.create({ loadDataDir: new Blob([readFileSync(template)]) });
const scenario = scenarios.find(({ name }) => name === 'everything');
const [integration] = integrations;
if (scenario === undefined || integration === undefined) throw new Error('Nothing to run.');
const simulator = await createSimulator({ scenario, integration, database });
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const run = await simulator.run({ seed });
  console.log(`${seed} ${createHash('sha256').update(JSON.stringify(run)).digest('hex')}`);
}
await database.close();
