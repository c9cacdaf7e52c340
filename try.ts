import { PGlite } from '@electric-sql/pglite';
import fs from 'node:fs';
import { createSimulator } from '/work/wt-engine/sim/world/simulator.ts';
import { scenarios } from '/work/wt-engine/sim/world/scenarios.ts';
import { integrations } from '/work/wt-engine/sim/integrations/index.ts';
const db = await PGlite.create({ loadDataDir: new Blob([fs.readFileSync('/tmp/pgd.tar')]) });
const [sc = 'early-webhook', integ = 'guarded', seed = '1', n='1'] = process.argv.slice(2);
const scenario = scenarios.find(s => s.name === sc)!; const integration = integrations.find(i => i.name === integ)!;
const sim = await createSimulator({ scenario, integration, database: db });
for (let w=0;w<60;w++) await sim.run({seed:w+5000});
let t = performance.now(); const c0=process.cpuUsage(); let races=0; let steps=0;
for (let s = Number(seed); s < Number(seed) + Number(n); s++) {
  const run = await sim.run({ seed: s });
  if (scenario.race(run)) races++; steps+=run.steps.length;
  if (n === '1' || run.verdict !== 'pass') {
    for (const st of run.steps) console.log(String(st.index).padStart(3), String(st.timeMs).padStart(7), st.phase[0], st.actor.padEnd(8), st.label.padEnd(45), '|', st.text, st.changes.map(c => `${c.table} ${c.key}: ${c.before?.status ?? '-'}→${c.after?.status ?? '-'}`).join('; '));
    console.log(run.verdict, run.violations, run.error, run.token.length, 'seed', s);
    if (run.verdict !== 'pass') { 
      const again = await sim.replay(run.token); console.log('replay same', JSON.stringify(again.steps)===JSON.stringify(run.steps)); break; }
  }
}
const cu=process.cpuUsage(c0); console.log('cpu ms/run', (cu.user+cu.system)/1000/Number(n));console.log('per s', 1000 * Number(n) / (performance.now() - t), 'races', races, 'steps', steps/Number(n));

process.exit(0);
