import { describe, expect, it } from 'vitest';
import { faults } from '../../sim/world/faults.ts';
import { happened, precedes } from '../../sim/world/occurrence.ts';
import type { Run } from '../../sim/world/run.ts';
import { scenarios } from '../../sim/world/scenarios.ts';
import { createSimulator } from '../../sim/world/simulator.ts';
import { sharedPglite } from '../setup/databases.ts';
import { describeFailure } from './describe-failure.ts';
import { recordingIntegration } from './recording-integration.ts';

const RUNS = Number(process.env['SUME_SIM_RUNS'] ?? 1_000);
const FIRST_SEED = Number(process.env['SUME_SIM_SEED'] ?? 1);

type StepOf = Run['steps'][number];
const isEnd = (row: Record<string, unknown> | null): boolean =>
  row !== null && !['queued', 'processing'].includes(String(row['status']));
const ends = ({ changes }: StepOf): boolean =>
  changes.some(
    ({ table, before, after }) => table === 'sume_jobs' && isEnd(after) && !isEnd(before),
  );
const inserts = ({ changes }: StepOf): boolean =>
  changes.some(({ table, before }) => table === 'sume_jobs' && before === null);
const parks = ({ changes }: StepOf): boolean =>
  changes.some(({ table, before }) => table === 'sume_parked' && before === null);
/** Whether a process crashed when the last thing that it had done was such a step. */
const crashedAfter = (
  run: Run,
  process: string,
  is: (last: StepOf | undefined) => boolean,
): boolean =>
  run.steps.some(
    (step, index) =>
      step.fault === 'crash' &&
      step.actor === process &&
      is(
        run.steps
          .slice(0, index)
          .findLast(({ actor, fault }) => actor === process && fault !== 'clock-skew'),
      ),
  );

/** Every race that this search claims to cover. */
const RACES: Readonly<Record<string, (run: Run) => boolean>> = {
  'a stale answer after the end': (run) =>
    precedes(
      run,
      ends,
      ({ label, text }) => /← GET status/.test(label) && /queued|processing/.test(text),
    ),
  'an event before its row': (run) => precedes(run, parks, inserts),
  'a conflict': (run) => happened(run, ({ text }) => text.includes('200 conflict')),
  'a duplicate': (run) => happened(run, ({ text }) => text.includes('200 duplicate')),
  'a crash of the submit worker before the answer': (run) =>
    crashedAfter(run, 'submit', (last) => last === undefined || last.kind === 'request'),
  'a crash of the submit worker between the answer and the row': (run) =>
    crashedAfter(run, 'submit', (last) => last?.kind === 'answer'),
  'a crash of the web process in the middle of a webhook': (run) =>
    run.steps.some(
      (step, index) =>
        step.fault === 'crash' && step.actor === 'web' && run.steps[index - 1]?.to === 'web',
    ),
  'a crash of the poller between an answer and its write': (run) =>
    crashedAfter(run, 'poller', (last) => last?.kind === 'answer'),
  'a crash of the sweeper in the middle of a sweep': (run) =>
    crashedAfter(run, 'sweeper', (last) => last !== undefined && last.kind !== 'timer'),
  'a commit that nobody can know of': (run) =>
    happened(run, ({ fault }) => fault === 'error-after-commit'),
  'an orphan': (run) =>
    happened(run, (step) => parks(step) && step.changes.some(({ key }) => key === 'job_lost')),
};

describe('everything at once', () => {
  it(`holds every invariant over ${RUNS} schedules, and meets every fault, outcome and race`, async () => {
    console.log(
      `everything: ${RUNS} schedules from seed ${FIRST_SEED} (SUME_SIM_RUNS, SUME_SIM_SEED)`,
    );
    const scenario = scenarios.find(({ name }) => name === 'everything');
    if (scenario === undefined) throw new Error('The scenario "everything" is gone.');
    const counts = new Map<string, number>();
    const add = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
    for (const { name } of faults) counts.set(`fault: ${name}`, 0);
    for (const name of Object.keys(RACES)) counts.set(`race: ${name}`, 0);
    for (const outcome of OUTCOMES) counts.set(outcome, 0);

    const simulator = await createSimulator({
      scenario,
      integration: recordingIntegration(counts),
      database: await sharedPglite(),
    });
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
      const run = await simulator.run({ seed });
      expect(run.verdict, describeFailure(run)).toBe('pass');
      for (const { fault } of run.steps) if (fault !== null) add(`fault: ${fault}`);
      for (const [name, met] of Object.entries(RACES)) if (met(run)) add(`race: ${name}`);
    }

    console.log(
      [...counts].map(([what, count]) => `${String(count).padStart(7)}  ${what}`).join('\n'),
    );
    const never = [...counts].filter(([, count]) => count === 0).map(([what]) => what);
    // The core never reads a replica, so nothing can lag for it.
    expect(never).toEqual(['fault: replica-lag']);
  }, 3_600_000);
});

const OUTCOMES = [
  'receive: applied',
  'receive: duplicate',
  'receive: conflict',
  'receive: parked',
  'register: registered',
  'register: reconciled',
  'register: known',
  'poll: applied',
  'poll: stale',
  'poll: inserted',
  'sweep: applied',
  'sweep: found',
];
