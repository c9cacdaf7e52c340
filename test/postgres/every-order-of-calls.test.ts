import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/database.ts';
import type { TerminalEventName } from '../../src/event.ts';
import { createReconciler, type Reconciler } from '../../src/reconciler.ts';
import type { TerminalStatus } from '../../src/status.ts';
import { recordEffect } from '../../sim/integrations/core-parts.ts';
import { insertAndDrain, lookThenParkEvent } from '../../sim/integrations/broken/by-hand.ts';
import { guarded } from '../../sim/integrations/guarded.ts';
import { openPostgresServer, type PostgresServer } from '../../sim/postgres/postgres-server.ts';
import type { DefaultIsolation } from '../../sim/postgres/server-session.ts';
import type { Stage } from '../../sim/world/stage.ts';
import { stubSume } from '../contract/stub-sume.ts';
import { describePostgres } from '../setup/databases.ts';
import { manualClock } from '../setup/manual-clock.ts';
import { exploreCalls, type OrderOfCalls, type RaceOfCalls } from './race-of-calls.ts';

type Call = (reconciler: Reconciler, database: Database) => Promise<unknown>;

const receive =
  (name: TerminalEventName): Call =>
  (reconciler) =>
    reconciler.receive({
      event: name,
      jobId: 'job_a',
      status: name.slice('job.'.length) as TerminalStatus,
      body: JSON.stringify({ event: name, job_id: 'job_a', payload: {} }),
    });
const register: Call = (reconciler) => reconciler.register('job_a', { correlationId: 'order-a' });
const CALLS = {
  register,
  completes: receive('job.completed'),
  again: receive('job.completed'),
  fails: receive('job.failed'),
  advance: (reconciler) => reconciler.advance('job_a', 'processing', { insert: true }),
  sweep: (reconciler) =>
    reconciler.sweep({
      client: stubSume({ job_a: { word: 'completed', resultReady: true, result: {} } }),
      staleAfterMs: 0,
      recheckMs: 0,
      orphanAfterMs: 0,
    }),
  joined: (reconciler, database) =>
    database.transaction((tx) => reconciler.register('job_a', {}, tx), {
      isolation: 'read committed',
    }),
} satisfies Record<string, Call>;

interface Race {
  calls: (keyof typeof CALLS)[];
  /** Whether the job was there before; otherwise nothing was. */
  known?: true;
  /** Left out but under SUME_SIM_EVERY_ORDER=1: hundreds of orders and more, which take their time. */
  many?: readonly Concurrency[];
}

type Concurrency = 'locks' | 'serializable';

const RACES: readonly Race[] = [
  { calls: ['register', 'completes'] },
  { calls: ['completes', 'again'] },
  { calls: ['completes', 'again'], known: true },
  { calls: ['completes', 'fails'] },
  { calls: ['completes', 'fails'], known: true },
  { calls: ['register', 'completes', 'advance'], many: ['serializable'] },
  { calls: ['sweep', 'completes'], known: true },
  { calls: ['joined', 'completes'] },
];
const ALL = process.env['SUME_SIM_EVERY_ORDER'] === '1';

/** What must hold in any order, however it was come by. */
function judge(order: OrderOfCalls, race: Race): string[] {
  const { rows, outcomes, wasStranded } = order;
  const wrong: string[] = [];
  for (const [call, outcome] of Object.entries(outcomes)) {
    if (outcome instanceof Error) wrong.push(`${call} failed: ${outcome.message}`);
  }
  if (wasStranded) wrong.push('a job stood beside its parked event');
  const job = rows.jobs.get('job_a');
  const isRegistered =
    race.known === true || race.calls.some((call) => /register|joined|advance/.test(call));
  if (isRegistered && job?.['rank'] !== 2)
    wrong.push(`the job is ${String(job?.['status'])} in the end`);
  if (!isRegistered && !rows.parked.has('job_a')) wrong.push('nothing is parked');
  if ((rows.effects.get('job_a') ?? 0) !== (isRegistered ? 1 : 0))
    wrong.push('effects are not once');
  return wrong;
}

/** The core pins its own level: of the many orders the sessions' default changes nothing. */
function isWorthIt(race: Race, level: DefaultIsolation, concurrency: Concurrency): boolean {
  if (race.calls.includes('joined') && concurrency === 'serializable') return false;
  if (ALL) return true;
  if (race.many?.includes(concurrency) === true) return false;
  return level === 'read committed' || (concurrency === 'locks' && race.calls.length === 2);
}

describePostgres('the core on a real server, statement by statement', () => {
  for (const level of ['read committed', 'repeatable read', 'serializable'] as const) {
    describe(`in sessions whose default is ${level}`, () => {
      let server: PostgresServer;
      let stage: Stage;
      beforeAll(async () => {
        server = await openPostgresServer(inject('databaseUrl') ?? '', { defaultIsolation: level });
        stage = await server.stage(guarded);
      });
      afterAll(() => server.close());

      for (const concurrency of ['locks', 'serializable'] as const) {
        for (const race of RACES.filter((one) => isWorthIt(one, level, concurrency))) {
          const name = `{${race.calls.join(', ')}}${race.known === true ? ' of a known job' : ''}`;
          it(
            `survives every order of ${name}, by ${concurrency}`,
            async () => {
              const explored = await exploreCalls(stage, callsOf(race, concurrency), (order) => {
                expect(judge(order, race), wordsOf(order)).toEqual([]);
              });
              expect(explored.complete).toBe(true);
              expect(explored.schedules).toBeGreaterThan(1);
            },
            ALL ? 3_600_000 : 60_000,
          );
        }
      }
    });
  }
});

describePostgres('the same judge', () => {
  it('sees what is stranded without the lock', async () => {
    const server = await openPostgresServer(inject('databaseUrl') ?? '');
    onTestFinished(() => server.close());
    const at = new Date(0);
    const event = {
      event: 'job.completed',
      jobId: 'job_a',
      status: 'completed',
      body: '{}',
    } as const;
    const wrong = new Set<string>();
    await exploreCalls(
      await server.stage(guarded),
      {
        calls: {
          register: (database) =>
            database.transaction((tx) => insertAndDrain(tx, 'job_a', 'order-a', at)),
          completes: (database) => database.transaction((tx) => lookThenParkEvent(tx, event, at)),
        },
      },
      (order) => {
        for (const one of judge(order, { calls: ['register', 'completes'] })) wrong.add(one);
      },
    );
    expect(wrong).toContain('a job stood beside its parked event');
    expect(wrong).toContain('the job is queued in the end');
  });
});

function callsOf(race: Race, concurrency: Concurrency): RaceOfCalls {
  const make = (database: Database): Reconciler =>
    createReconciler({
      database,
      concurrency,
      clock: manualClock(),
      onTerminal: (job, tx) => recordEffect(job, tx, new Date(0)),
    });
  const calls = race.calls.map((call): [string, (database: Database) => Promise<unknown>] => [
    call,
    (database) => CALLS[call](make(database), database),
  ]);
  return {
    calls: Object.fromEntries(calls),
    ...(race.known === true ? { before: (database) => register(make(database), database) } : {}),
  };
}

function wordsOf({ steps }: OrderOfCalls): string {
  return steps.map(({ actor, text }) => `${actor}: ${text}`).join('\n');
}
