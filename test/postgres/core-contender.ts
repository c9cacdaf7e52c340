import type { Reconciler } from '../../src/index.ts';
import type { Contender } from './load.ts';

/** The core under load, its calls made as a service makes them: each on a connection of the pool. */
export function coreContender(reconciler: Reconciler): Contender {
  return {
    register: (job) => reconciler.register(job.id),
    receive: (job) => reconciler.receive(job.event),
    advance: (job, status) => reconciler.advance(job.id, status, { insert: job.pollsInsert }),
  };
}
